import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { createPosthorn, JsonText, type Posthorn } from '../src/index.ts'
import type { EventInput, EventSchema } from '../src/schema/catalogue.ts'
import { createTestPosthorn } from '../src/testing/test-posthorn.ts'

/** A schema of no library: a number that is even, told after a while. */
const even: EventSchema<{ n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'handmade',
    validate: async (value) =>
      Number((value as { n?: unknown }).n) % 2 === 0 ? {} : { issues: [{ message: 'n is odd', path: [{ key: 'n' }] }] },
  },
}
const events = {
  'invoice.paid': v.object({
    amount: v.pipe(v.number(), v.minValue(1)),
    lines: v.array(v.object({ sku: v.string() })),
  }),
  'count.even': even,
}
type Data = { [Type in keyof typeof events]: (typeof events)[Type] extends EventSchema<infer Of> ? Of : never }
const paid = { event_type: 'invoice.paid', data: { amount: 5, lines: [{ sku: 'a' }] } } satisfies EventInput<Data>
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const fieldsOf = (body: unknown) => (body as { error: { fields: unknown } }).error.fields

describe('a catalogue of events', () => {
  test('types what may be published, and nothing else may be', () => {
    const typed = createTestPosthorn({ events })
    type Input = Parameters<typeof typed.events.create>[1]
    expectTypeOf<{ event_type: 'invoice.paid'; data: (typeof paid)['data'] }>().toExtend<Input>()
    expectTypeOf<{ event_type: 'count.even'; data: { n: number } }>().toExtend<Input>()
    expectTypeOf<{ event_type: 'invoice.paid'; data: JsonText; unique_id: string }>().toExtend<Input>()
    expectTypeOf<{ event_type: 'invoice.sent'; data: object }>().not.toExtend<Input>()
    expectTypeOf<{ event_type: 'invoice.paid'; data: { amount: string } }>().not.toExtend<Input>()
    expectTypeOf<Parameters<ReturnType<typeof typed.using>['events']['create']>[1]>().toEqualTypeOf<Input>()

    const untyped = createPosthorn()
    expectTypeOf(untyped).toExtend<Posthorn>()
    expectTypeOf<Posthorn>().toExtend<typeof untyped>()
    expectTypeOf(typed).toExtend<Posthorn>()
    expectTypeOf<{ event_type: string; data: object }>().toExtend<Parameters<typeof untyped.events.create>[1]>()
  })

  test('refuses data that its schema does not take, place by place, and stores none of it', async () => {
    const posthorn = createTestPosthorn({ events })
    const bad = { event_type: 'invoice.paid', data: { amount: 0, lines: [{ sku: 'a' }, { sku: 2 }] } } as const
    // @ts-expect-error a sku is a text
    await expect(posthorn.events.create('default', bad)).rejects.toMatchObject({
      code: 'validation',
      fields: { data: { amount: expect.any(String), lines: [null, { sku: expect.any(String) }] } },
    })
    await expect(
      posthorn.events.create('default', { event_type: 'count.even', data: new JsonText('{"n":3}') }),
    ).rejects.toMatchObject({ fields: { data: { n: 'n is odd' } } })
    expect(await posthorn.events.list('default')).toMatchObject({ total: 0 })
    expect(await posthorn.events.create('default', paid)).toMatchObject(paid)
  })

  test('holds over HTTP and for the gateway; a type it does not know is refused where it is strict', async () => {
    for (const strictEvents of [false, true]) {
      const posthorn = createTestPosthorn({ events, strictEvents, logger: silent })
      for (const asynchronous of [false, true]) {
        const http = { path: `/in/${asynchronous}` }
        await posthorn.sources.create('default', { config: { http }, async: asynchronous })
      }
      const ways = [
        (body: string) => posthorn.admin.fetch(new Request('http://a/events', { method: 'POST', body })),
        (body: string) => posthorn.gateway.fetch(new Request('http://a/in/false', { method: 'POST', body })),
        (body: string) => posthorn.gateway.fetch(new Request('http://a/in/true', { method: 'POST', body })),
      ]
      for (const send of ways) {
        expect((await send(JSON.stringify(paid))).ok).toBe(true)
        const odd = await send('{"event_type":"count.even","data":{"n":1}}')
        expect([odd.status, fieldsOf(await odd.json())]).toEqual([400, { data: { n: 'n is odd' } }])
        const unknown = await send('{"event_type":"toString","data":{}}')
        expect(unknown.ok).toBe(!strictEvents)
        if (!strictEvents) continue
        expect(unknown.status).toBe(400)
        expect(fieldsOf(await unknown.json())).toEqual({ event_type: "unknown event type 'toString'" })
      }
    }
  })

  test('sends the bytes that came in, whatever the schema makes of them', async () => {
    const posthorn = createTestPosthorn({
      events: {
        'order.made': v.pipe(
          v.object({ at: v.string() }),
          v.transform(() => ({ at: 0 })),
        ),
      },
    })
    await posthorn.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
    await posthorn.events.create('default', { event_type: 'order.made', data: { at: 'noon' } })
    await posthorn.drain()
    expect(posthorn.deliveries.map(({ body }) => body)).toEqual(['{"at":"noon"}'])
  })

  test('stands in the OpenAPI document as webhooks', async () => {
    const document = async (posthorn: Posthorn) =>
      (await (await posthorn.admin.fetch(new Request('http://a/openapi.json'))).json()) as {
        webhooks?: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>
      }
    expect((await document(createPosthorn())).webhooks).toBeUndefined()
    const { webhooks = {} } = await document(createPosthorn({ events }))
    expect(Object.keys(webhooks)).toEqual(Object.keys(events))
    expect(webhooks['invoice.paid']?.post.requestBody.content['application/json']?.schema).toMatchObject({
      type: 'object',
      properties: { amount: { type: 'number', minimum: 1 } },
      required: ['amount', 'lines'],
    })
  })

  test('of anything but schemas is an error of createPosthorn', () => {
    const notOne = { 'invoice.paid': {} } as unknown as typeof events
    expect(() => createPosthorn({ events: notOne })).toThrow("'invoice.paid' is no event type with a Standard Schema")
  })
})
