import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { faulty } from '../../src/testing/faulty.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://shop.test/'
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Publishes two events, one of which fails once; ends early when a call fails. Answers the ids that were accepted. */
async function scenario(storage: Storage): Promise<readonly string[]> {
  const posthorn = createTestPosthorn({ storage, logger })
  const accepted: string[] = []
  posthorn.receiver(url).answers(500, 200)
  try {
    for (const n of [1, 2]) {
      const { id } = await posthorn.events.create('default', { event_type: 'order', data: { n } })
      accepted.push(id)
    }
    await posthorn.tick()
    await posthorn.advance('10s')
  } catch {
    // The process died here; another one takes over.
  }
  return accepted
}

async function fresh(): Promise<Storage> {
  const storage = memory()
  await createTestPosthorn({ storage }).endpoints.create('default', {
    request: { url },
    events: ['*'],
    retry: { config: { attempts: [0, 5, 5, 5] } },
  })
  return storage
}

describe.each(['before', 'after'] as const)('a crash %s the n-th call of storage', (mode) => {
  test('loses nothing, whatever n', async () => {
    let calls = 0
    await scenario(faulty(await fresh(), { failAt: Infinity, mode, onCall: (count) => (calls = count) }))
    expect(calls).toBeGreaterThan(10)

    for (let failAt = 1; failAt <= calls; failAt++) {
      const storage = await fresh()
      const accepted = await scenario(faulty(storage, { failAt, mode }))
      const survivor = createTestPosthorn({ storage, logger })
      await survivor.advance('5m')
      const { data } = await survivor.attempts.list('default', { limit: 1000 })
      for (const id of accepted) {
        const own = data.filter(({ event_id }) => event_id === id)
        expect(
          own.filter(({ status }) => status === 'SUCCESSFUL'),
          `call ${failAt}, event ${id}`,
        ).toHaveLength(1)
      }
      expect(
        data.filter(({ status }) => status === 'INIT' || status === 'QUEUED'),
        `call ${failAt}`,
      ).toEqual([])
    }
  })
})
