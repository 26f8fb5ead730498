import * as v from 'valibot'
import { expect, expectTypeOf, test } from 'vitest'

import type { EventSchema } from '../../src/schema/catalogue.ts'
import { onEveryEngine } from '../support/engines.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const handmade: EventSchema = { '~standard': { version: 1, vendor: 'handmade', validate: () => ({}) } }
const events = {
  'invoice.paid': {
    schema: v.object({ amount: v.number() }),
    description: 'An invoice was paid.',
    example: { amount: 4200 },
    group: 'Invoices',
  },
  'invoice.voided': { schema: handmade, deprecated: true },
  'account.audited': { schema: v.object({}), hidden: true },
  plain: v.object({ n: v.number() }),
}

test('the catalogue is listed in its order, with JSON Schema where a schema tells one, hidden types on demand', async () => {
  const posthorn = createTestPosthorn({ events })
  const types = await posthorn.eventTypes.list('default')
  const rest = { description: null, group: null, deprecated: false, hidden: false, example: null, volume_24h: 0 }
  expect(types).toEqual([
    {
      ...rest,
      event_type: 'invoice.paid',
      description: 'An invoice was paid.',
      group: 'Invoices',
      example: { amount: 4200 },
      schema: expect.objectContaining({ type: 'object', properties: { amount: { type: 'number' } } }),
    },
    { ...rest, event_type: 'invoice.voided', deprecated: true, schema: null },
    { ...rest, event_type: 'plain', schema: expect.objectContaining({ type: 'object' }) },
  ])
  const all = await posthorn.eventTypes.list('default', { hidden: true })
  expect(all.map(({ event_type }) => event_type)).toEqual(Object.keys(events))

  const ask = async (path: string) => (await posthorn.admin.fetch(new Request(`http://admin.test${path}`))).json()
  expect(await ask('/event-types')).toEqual(types)
  expect(await ask('/workspaces/default/event-types?hidden=true')).toEqual(all)
  await expect(posthorn.eventTypes.list('none')).rejects.toMatchObject({ code: 'unknown_workspace' })
  const { webhooks } = (await ask('/openapi.json')) as { webhooks: object }
  expect(Object.keys(webhooks)).toEqual(['invoice.paid', 'invoice.voided', 'plain'])
})

onEveryEngine((fresh) => {
  test('volumes are the attempts of each type that ended in the last 24 hours, in the workspace', async () => {
    const posthorn = createTestPosthorn({ events, storage: await fresh(), logger: silent })
    const request = { url: 'https://shop.test/' }
    const retry = { config: { attempts: [0, 60] } }
    await posthorn.workspaces.create({ id: 'other' })
    for (const ws of ['default', 'other']) await posthorn.endpoints.create(ws, { request, events: ['*'], retry })
    const paid = { event_type: 'invoice.paid', data: { amount: 1 } } as const
    posthorn.receiver(request.url).answers(500)
    await Promise.all([1, 2].map(() => posthorn.events.create('default', paid)))
    await posthorn.events.create('default', { event_type: 'plain', data: { n: 1 } })
    await posthorn.events.create('other', paid)
    await posthorn.advance('2m')
    const volumes = async () =>
      Object.fromEntries((await posthorn.eventTypes.list('default')).map((type) => [type.event_type, type.volume_24h]))
    // Each was tried twice.
    expect(await volumes()).toEqual({ 'invoice.paid': 4, 'invoice.voided': 0, plain: 2 })
    await posthorn.advance('25h')
    expect(await volumes()).toEqual({ 'invoice.paid': 0, 'invoice.voided': 0, plain: 0 })
  })
})

test('an entry types and checks data as its schema alone would', async () => {
  const posthorn = createTestPosthorn({ events })
  type Input = Parameters<typeof posthorn.events.create>[1]
  expectTypeOf<{ event_type: 'invoice.paid'; data: { amount: number } }>().toExtend<Input>()
  expectTypeOf<{ event_type: 'invoice.paid'; data: { amount: string } }>().not.toExtend<Input>()
  const wrong = { event_type: 'invoice.paid', data: { amount: 'x' } } as never
  await expect(posthorn.events.create('default', wrong)).rejects.toMatchObject({ code: 'validation' })
  await posthorn.events.create('default', { event_type: 'invoice.paid', data: { amount: 1 } })
})

test.each([{ schema: 5 }, { schema: v.object({}), description: 7 }, {}])('an entry like %j is refused', (entry) => {
  expect(() => createTestPosthorn({ events: { broken: entry as never } })).toThrow(/'broken'/)
})
