import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

test('an outcome that the storage refuses keeps no other from being stored, and is tried again', async () => {
  const store = memory()
  let refuses = true
  const settle: typeof store.attempts.settle = async (settlements, options) => {
    const isOdd = (n: number) => refuses && settlements[n]!.attempt.endpoint_id === 'odd'
    const fine = settlements.filter((_, n) => !isOdd(n))
    const answers = [...(await store.attempts.settle(fine, options))]
    return settlements.map((_, n) =>
      isOdd(n) ? { settled: false, disabled: false, refused: new Error('22003') } : answers.shift()!,
    )
  }
  const errors: string[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
  const posthorn = createTestPosthorn({ storage: { ...store, attempts: { ...store.attempts, settle } }, logger })
  for (const id of ['odd', 'fine']) {
    await posthorn.endpoints.create('default', { id, request: { url: `https://${id}.test/` }, events: ['*'] })
  }
  await posthorn.start()
  for (let n = 0; n < 3; n++) await posthorn.events.create('default', { event_type: 'x', data: {} })
  const ended = async () => {
    const { data } = await posthorn.attempts.list('default')
    return data.filter(({ status }) => status === 'SUCCESSFUL').map(({ endpoint_id }) => endpoint_id)
  }
  await posthorn.clock.advance('2s')
  expect(await ended()).toEqual(['fine', 'fine', 'fine'])
  expect(errors).toContain('outcomes of attempts could not be stored; trying again')
  refuses = false
  await posthorn.clock.advance('2s')
  expect((await ended()).toSorted()).toEqual(['fine', 'fine', 'fine', 'odd', 'odd', 'odd'])
  // Each was sent once: an outcome that waits is no reason to send again.
  expect(posthorn.deliveries).toHaveLength(6)
  await posthorn.stop()
})
