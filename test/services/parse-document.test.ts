import fc from 'fast-check'
import { expect, test } from 'vitest'

import { configDocument } from '../../src/schema/config.ts'
import { parse } from '../../src/schema/parse.ts'
import { parsedInParts } from '../../src/services/parse-document.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

/** What comes of a document: what it says, or the whole refusal. */
async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { value: await read() }
  } catch (error) {
    const { code, message, fields } = error as { code: string; message: string; fields: unknown }
    return { code, message, fields: JSON.stringify(fields) }
  }
}

async function expectSame(document: unknown): Promise<void> {
  expect(await outcome(() => parsedInParts(fakeClock(), document))).toEqual(
    await outcome(() => parse(configDocument, document)),
  )
}

const entry = fc.record(
  {
    id: fc.constantFrom('a', 'b', ' c', null, 7),
    name: fc.constantFrom('n', null, 7),
    request: fc.constantFrom({ url: 'https://a.test/' }, { url: 'no url' }, null),
    events: fc.constantFrom(['x'], 'x', null),
    plugins: fc.constantFrom([], [{ name: 'p' }], [{ name: 7 }], [null], null),
    config: fc.constantFrom({ http: { path: '/x' } }, { http: { path: 'x' } }),
    unknown: fc.constant(1),
  },
  { requiredKeys: [] },
)
const entries = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.oneof({ weight: 8, arbitrary: entry }, fc.constant(null)), { maxLength: 130 }) },
  fc.constantFrom(null, undefined, 7, {}),
)

test('a document that is parsed in parts says what it says as a whole, with all reasons at their places', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record(
        { endpoints: entries, sources: entries, other: fc.constant(1), 'x-own': fc.constant(1) },
        { requiredKeys: [] },
      ),
      expectSame,
    ),
    { numRuns: 200 },
  )
})

test.each([[null], [7], [[]], ['text'], [{ other: [] }], [{ endpoints: 'none' }], [{}]])('so does %j', expectSame)

test('so does one with more reasons than are told', async () => {
  await expectSame({ endpoints: Array.from({ length: 400 }, () => ({ name: 7, events: 7 })), sources: [{}], other: 1 })
})
