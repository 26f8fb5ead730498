import { afterAll, describe, expect, test, vi } from 'vitest'

import { nodePlatform } from '../../adapters/node/platform.ts'
import type { PreparedPlugin } from '../../src/contracts/plugin.ts'
import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { inboundContext, inboundRequest, written } from './fixtures.ts'

const kind = eventValidation()
const prepared: PreparedPlugin[] = []
afterAll(() => {
  for (const each of prepared) each.close?.()
})

async function source(schema: unknown, version = 'draft-07') {
  const config = { version, schemas: { a: JSON.stringify(schema) }, verbose_response: true }
  const plugin = await kind.prepare((await written(kind, config)) as never, nodePlatform)
  prepared.push(plugin)
  return async (data: unknown) => {
    const body = typeof data === 'string' ? data : JSON.stringify(data)
    const answer = await plugin.inbound!(
      inboundRequest({ body: `{"event_type":"a","data":${body}}` }),
      inboundContext(),
    )
    return answer instanceof Response ? ((await answer.json()) as { error: string[] }).error : []
  }
}

const refused = async (schema: string, version = 'draft-07') =>
  await kind.verify!({ version, schemas: { a: schema }, default_schema: null } as never, nodePlatform, 'default')

/** On a busy machine a process may get less than a run needs in the time that it may take: then the next try tells. */
const tells = (answer: () => Promise<unknown>, expected: unknown) =>
  vi.waitFor(async () => expect(await answer()).toEqual(expected), { timeout: 20_000 })

describe('event-validation in a process', () => {
  test('tells the reasons, of many plugins in turn', async () => {
    const sources = await Promise.all(['string', 'integer', 'null'].map((type) => source({ type })))
    for (let round = 0; round < 3; round++) {
      await tells(
        () => Promise.all(sources.map((send) => send(5))),
        [["at '': value must be string"], [], ["at '': value must be null"]],
      )
    }
  })

  test('a document that takes too much is refused, and the next one is judged', async () => {
    const send = await source({
      anyOf: [...Array.from({ length: 500 }, (_, i) => ({ const: { a: i } })), { type: 'integer' }],
    })
    expect(await send({ ['k'.repeat(900_000)]: 1 })).toEqual([
      "at '': the schema asks for too much work on this document",
    ])
    expect(await send(`${'['.repeat(400_000)}${']'.repeat(400_000)}`)).toHaveLength(1)
    // The process that takes the place of an ended one makes the schema anew.
    await tells(() => send(5), [])
  })

  test('a text is a pattern by its syntax, whatever it would take to compile', async () => {
    const send = await source({ items: { format: 'regex' } })
    const texts = ['(a)\\1', '(?=x)', '(', '\\p{L}{1000}']
    await tells(() => send(texts), [`at '2': value doesn't match the format "regex"`])
    expect(await send(Array.from({ length: 15_000 }, (_, i) => `\\p{L}{100}${i}`))).toHaveLength(1)
  })

  test.each<readonly [string, string, RegExp]>([
    [
      'patterns',
      JSON.stringify({
        patternProperties: Object.fromEntries(
          Array.from({ length: 5000 }, (_, i) => [`a{${i % 1000}}b{${i % 999}}${i}`, true]),
        ),
      }),
      /its patterns take too much work|too much time/,
    ],
    [
      'references',
      JSON.stringify({
        $id: `http://x/${'a'.repeat(400_000)}`,
        definitions: { d: true },
        anyOf: Array.from({ length: 10_000 }, () => ({ $ref: '#/definitions/d' })),
      }),
      /its references take too much work|too much time/,
    ],
    [
      'depth',
      `${'{"not":'.repeat(100_000)}{}${'}'.repeat(100_000)}`,
      /too much work|too much time|too large or too deep/,
    ],
  ])('a schema is refused when it is written, with what was too much: %s', async (_what, schema, reason) => {
    const from = performance.now()
    expect(await refused(schema)).toEqual({ schemas: { a: expect.stringMatching(reason) } })
    expect(performance.now() - from).toBeLessThan(15_000)
    await tells(() => refused('{"type":"string"}'), null)
  })

  test('what no schema may take, a set of schemas may not take together', async () => {
    // Each is read within the second, all of them are not.
    const schema = JSON.stringify({ allOf: Array.from({ length: 20 }, (_, i) => ({ pattern: `(a{0,900}|b)${i}` })) })
    const schemas = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`t${i}`, schema]))
    const answer = await kind.verify!(
      { version: 'draft-07', schemas, default_schema: null } as never,
      nodePlatform,
      'w',
    )
    expect((answer as { schemas: Record<string, string> }).schemas['t39']).toMatch(/together take more than a second/)
  })
})
