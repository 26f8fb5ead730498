import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { createAdminClient } from '../../src/client.ts'
import { PosthornError } from '../../src/errors.ts'
import type { EventCatalogue } from '../../src/schema/catalogue.ts'
import { JsonText } from '../../src/schema/json-text.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { memoryLog } from '../http/api.ts'

const paid = (n: number, more: object = {}) => ({ event_type: 'order.paid', data: { n }, ...more })

function opened() {
  const flushes: number[] = []
  const inner = memory()
  const storage: Storage = {
    ...inner,
    events: {
      ...inner.events,
      async ingest(entries, options) {
        flushes.push(entries.length)
        return await inner.events.ingest(entries, options)
      },
    },
  }
  const posthorn = createTestPosthorn({ storage, logger: memoryLog() })
  const client = createAdminClient({
    baseUrl: 'http://admin.test',
    fetch: (url, init) => posthorn.admin.fetch(new Request(url, init)),
  })
  return { posthorn, client, flushes }
}

test('create tells whether it stored the event, over HTTP too', async () => {
  const { posthorn, client } = opened()
  const first = await posthorn.events.create('default', paid(1, { unique_id: 'one' }))
  expect(first.created).toBe(true)
  expect(await posthorn.events.create('default', paid(2, { unique_id: 'one' }))).toEqual({ ...first, created: false })
  expect(await client.events.create('default', paid(2, { unique_id: 'one' }))).toEqual({ ...first, created: false })
  expect((await client.events.create('default', paid(3))).created).toBe(true)
})

test('500 events are stored by one flush, in order', async () => {
  const { posthorn, flushes } = opened()
  await posthorn.endpoints.create('default', { id: 'shop', request: { url: 'https://shop.test/' }, events: ['*'] })
  const answers = await posthorn.events.createMany(
    'default',
    Array.from({ length: 500 }, (_, n) => paid(n)),
  )
  expect(answers.map(({ event, created }) => [event?.data, created])).toEqual(
    Array.from({ length: 500 }, (_, n) => [{ n }, true]),
  )
  expect(flushes).toEqual([500])
  await posthorn.drain()
  expect(posthorn.deliveries).toHaveLength(500)
})

test('an event that is wrong, or was seen before, refuses no other; the client answers the same', async () => {
  const { posthorn, client } = opened()
  const stored = await posthorn.events.create('default', paid(0, { id: 'e0', unique_id: 'u0' }))
  const list = (suffix: string) => [
    paid(1, { unique_id: `u1${suffix}` }),
    { event_type: '', data: {} },
    paid(2, { unique_id: 'u0' }),
    paid(3, { id: 'e0' }),
    paid(4, { unique_id: `u1${suffix}` }),
    null as never,
    { event_type: 'order.paid', data: new JsonText('{"n":1.0}') },
  ]
  for (const events of [posthorn.events, client.events]) {
    const suffix = events === posthorn.events ? 'a' : 'b'
    const answers = await events.createMany('default', list(suffix))
    expect(answers.map(({ created }) => created)).toEqual([true, undefined, false, undefined, false, undefined, true])
    expect(answers[2]!.event?.id).toBe(stored.id)
    expect(answers[4]!.event).toEqual(answers[0]!.event)
    const errors = [1, 3, 5].map((i) => answers[i]!.error!)
    expect(errors.every((error) => error instanceof PosthornError)).toBe(true)
    expect(errors.map(({ code }) => code)).toEqual(['validation', 'unique_violation', 'validation'])
    expect(errors[0]!.fields).toHaveProperty('event_type')
    expect(errors[0]!.message).toMatch(/^events\.create: event_type /)
    expect(await events.raw('default', answers[6]!.event!.id)).toBe('{"n":1.0}')
  }
})

test('over HTTP each entry is an event or the error of that event, and its data stays byte for byte', async () => {
  const { posthorn } = opened()
  const ask = async (body: string) => {
    const request = new Request('http://admin.test/events/batch', { method: 'POST', body })
    const answer = await posthorn.admin.fetch(request)
    return { status: answer.status, text: await answer.text() }
  }
  const { status, text } = await ask('[ {"event_type":"a","data":{"n":1.0,"s":"]},["}} , {"data":{}} ]')
  expect(status).toBe(200)
  expect(text).toContain('"data":{"n":1.0,"s":"]},["}')
  const [first, second] = JSON.parse(text) as [object, object]
  expect(first).toMatchObject({ event: { event_type: 'a' }, created: true })
  expect(second).toEqual({
    error: {
      status: 400,
      message: 'Request Validation',
      error: { message: 'request validation', fields: { event_type: 'required field missing' } },
    },
  })
  const rule = 'value must be a list of at most 500 events'
  expect(await ask('{}')).toEqual({ status: 400, text: JSON.stringify({ message: rule }) })
  expect((await ask(JSON.stringify(Array.from({ length: 501 }, () => paid(1))))).status).toBe(400)
  expect(await ask('[]')).toEqual({ status: 200, text: '[]' })
})

test('many events go the way of a single one where they have to wait before: for a schema, a limit, or another configuration', async () => {
  const inner = memory()
  let isStale = false
  const storage: Storage = {
    ...inner,
    events: {
      ...inner.events,
      async ingest(entries, options) {
        if (!isStale) return await inner.events.ingest(entries, options)
        isStale = false
        return entries.map(() => ({ kind: 'stale' as const }))
      },
    },
  }
  const catalogue: EventCatalogue = {
    'order.paid': {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async (value) =>
          typeof (value as { n: unknown }).n === 'number'
            ? { value }
            : { issues: [{ message: 'no number', path: ['n'] }] },
      },
    },
  }
  const posthorn = createTestPosthorn({ storage, logger: memoryLog(), events: catalogue })
  await posthorn.workspaces.create({ id: 'w' })
  await posthorn.events.create('w', paid(0)) // from now on the configuration is at hand
  isStale = true
  const wrong = { event_type: 'order.paid', data: { n: 'two' } }
  const list = [paid(1), wrong, { event_type: 'other', data: {} }]
  const shown = (answers: Awaited<ReturnType<typeof posthorn.events.createMany>>) =>
    answers.map(({ event, error }) => event?.event_type ?? error?.fields)
  expect(shown(await posthorn.events.createMany('w', list))).toEqual([
    'order.paid',
    { data: { n: 'no number' } },
    'other',
  ])
  expect(isStale).toBe(false)
  await posthorn.workspaces.update('w', { limits: { events_per_second: 1 } })
  const limited = await posthorn.events.createMany('w', [paid(1), wrong, paid(2), paid(3)])
  expect(limited.map(({ error }) => error?.code)).toEqual([undefined, 'validation', 'rate_limited', 'rate_limited'])
})

test('of 32 callers with the same unique_ids each event is stored once', async () => {
  const { posthorn } = opened()
  const list = Array.from({ length: 20 }, (_, n) => paid(n, { unique_id: `u${n}` }))
  const answers = await Promise.all(Array.from({ length: 32 }, () => posthorn.events.createMany('default', list)))
  expect(answers.flat().filter(({ created }) => created === true)).toHaveLength(20)
  expect(new Set(answers.flat().map(({ event }) => event?.id)).size).toBe(20)
  await expect(posthorn.events.createMany('nowhere', list)).rejects.toMatchObject({ code: 'unknown_workspace' })
})
