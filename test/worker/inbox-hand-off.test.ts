import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Inbox } from '../../src/contracts/inbox.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { PosthornError } from '../../src/errors.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

// Where the process of the gateway also works, it stores what async sources accepted without taking it from the inbox.

const logger = { debug() {}, info() {}, warn() {}, error() {} }

async function withSources(storage: Storage = memory()): Promise<Storage> {
  const posthorn = createTestPosthorn({ storage, logger })
  for (const id of ['quiet', 'greedy']) {
    await posthorn.workspaces.create({ id })
    await posthorn.sources.create(id, { async: true, config: { http: { path: `/${id}` } } })
    await posthorn.endpoints.create(id, { request: { url: `https://${id}.test/` }, events: ['*'] })
  }
  return storage
}

/** A process with gateway and worker. `calls` are those of its inbox and of `events`. */
async function served({ storage, inbox }: { storage: Storage; inbox?: Inbox }) {
  const calls: string[] = []
  const counting = intercepted({ ...storage, inbox: inbox ?? storage.inbox! }, async (name, call) => {
    if (/^(inbox|events)\./.test(name)) calls.push(name)
    return await call()
  })
  const posthorn = createTestPosthorn({ storage: counting, logger })
  const post = async (workspace: string, n = 0) => {
    const body = JSON.stringify({ event_type: 'x', data: { n } })
    const answer = await posthorn.gateway.fetch(
      new Request(`http://gateway.test/${workspace}`, { method: 'POST', body }),
    )
    return answer.status
  }
  const start = async () => {
    await posthorn.start()
    await posthorn.clock.advance(100)
    calls.length = 0
  }
  return { posthorn, calls, post, start }
}

const stored = async (posthorn: ReturnType<typeof createTestPosthorn>, workspace: string) =>
  (await posthorn.events.list(workspace, { limit: 1000 })).data.length

describe('an event that an async source accepted', () => {
  test('is stored at once, and nothing is taken from the inbox', async () => {
    const { posthorn, calls, post, start } = await served({ storage: await withSources() })
    await start()
    expect(await post('quiet')).toBe(200)
    await posthorn.clock.advance(0)
    expect(calls).toEqual(['inbox.put', 'events.ingest', 'inbox.done'])
    expect(posthorn.deliveries).toHaveLength(1)
    await posthorn.stop()
  })

  test('is left in the inbox where no worker runs', async () => {
    const storage = await withSources()
    const { calls, post } = await served({ storage })
    await post('quiet')
    expect(calls).toEqual(['inbox.put'])
    const other = await served({ storage })
    await other.start()
    expect(await stored(other.posthorn, 'quiet')).toBe(1)
    await other.posthorn.stop()
  })

  test('is taken from an inbox that takes no leases', async () => {
    const storage = await withSources()
    const own = storage.inbox!
    const inbox: Inbox = {
      ...own,
      async put(messages) {
        await own.put(messages.map(({ lease: _, ...message }) => message))
        return messages.map(() => ({ kind: 'stored' }))
      },
    }
    const { posthorn, calls, post, start } = await served({ storage, inbox })
    await start()
    await post('quiet')
    await posthorn.clock.advance(0)
    expect(calls).toContain('inbox.take')
    expect(await stored(posthorn, 'quiet')).toBe(1)
    await posthorn.stop()
  })

  test('comes behind those that wait in the inbox', async () => {
    const storage = await withSources()
    const { posthorn, post } = await served({ storage })
    const order: string[] = []
    posthorn.on('event', ({ event }) => order.push(event.data))
    for (const n of [0, 1, 2]) await post('quiet', n)
    await posthorn.start()
    await post('quiet', 3)
    await posthorn.clock.advance(0)
    expect(order).toEqual([0, 1, 2, 3].map((n) => JSON.stringify({ n })))
    await posthorn.stop()
  })

  test('of a workspace that has many in hand waits in the inbox, and those of others do not', async () => {
    const storage = await withSources()
    let isAway = true
    const ingest: Storage['events']['ingest'] = async (...asked) => {
      while (isAway) await posthorn.clock.sleep(10)
      return await storage.events.ingest(...asked)
    }
    const held: Record<string, number> = {}
    const inbox: Inbox = {
      ...storage.inbox!,
      put(messages) {
        for (const { workspaceId, lease } of messages) if (lease) held[workspaceId] = (held[workspaceId] ?? 0) + 1
        return storage.inbox!.put(messages)
      },
    }
    const { posthorn, post, start } = await served({
      storage: { ...storage, events: { ...storage.events, ingest } },
      inbox,
    })
    await start()
    for (let n = 0; n < 200; n++) await post('greedy', n)
    await post('quiet')
    expect(held).toEqual({ greedy: 200, quiet: 1 })
    for (let n = 200; n < 500; n++) await post('greedy', n)
    expect(held['greedy']).toBeLessThan(400)
    isAway = false
    await posthorn.clock.advance('2s')
    expect(await stored(posthorn, 'greedy')).toBe(500)
    expect(await stored(posthorn, 'quiet')).toBe(1)
    expect(await storage.inbox!.size()).toBe(0)
    await posthorn.stop()
  })

  test('is stored by a stop that begins while it is put', async () => {
    const storage = await withSources()
    const own = storage.inbox!
    let answer: () => void = () => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const inbox: Inbox = {
      ...own,
      async put(messages) {
        await answered
        return await own.put(messages)
      },
    }
    const ingest: Storage['events']['ingest'] = async (...asked) => {
      await new Promise((later) => setTimeout(later, 20))
      return await storage.events.ingest(...asked)
    }
    const slow = { ...storage, events: { ...storage.events, ingest } }
    const { posthorn, post, start } = await served({ storage: slow, inbox })
    await start()
    const status = post('quiet')
    await posthorn.clock.advance(0)
    const stopped = posthorn.stop()
    answer()
    await stopped
    expect(await status).toBe(200)
    expect(await stored(posthorn, 'quiet')).toBe(1)
    expect(await own.size()).toBe(0)
  })
})

/** The same storage, which no call of this process reaches from the n-th on; with `after` the n-th still does. */
function dying(storage: Storage, { failAt, mode }: { failAt: number; mode: 'before' | 'after' }) {
  let calls = 0
  const dyingStorage = intercepted(storage, async (_name, call) => {
    const n = ++calls
    if (n > failAt || (n === failAt && mode === 'before')) throw new PosthornError('unavailable', 'the process died')
    const answer = await call()
    if (n === failAt) throw new PosthornError('unavailable', 'the process died')
    return answer
  })
  return { storage: dyingStorage, calls: () => calls }
}

describe.each(['before', 'after'] as const)('a crash %s the n-th call of the storage', (mode) => {
  const scenario = async (storage: Storage) => {
    let accepted = 0
    const { posthorn, post } = await served({ storage })
    try {
      await posthorn.start()
      await posthorn.clock.advance(100)
      for (let n = 0; n < 3; n++) {
        if ((await post('quiet', n)) === 200) accepted++
        await posthorn.clock.advance(10)
      }
    } catch {
      // The process died here.
    }
    const stopping = posthorn.stop({ timeoutMs: 0 })
    await posthorn.clock.advance('2s')
    await stopping
    return accepted
  }

  test('loses no event that was accepted, and stores none twice, whatever n', async () => {
    const whole = dying(await withSources(), { failAt: Infinity, mode })
    expect(await scenario(whole.storage)).toBe(3)
    expect(whole.calls()).toBeGreaterThan(10)
    for (let failAt = 1; failAt <= whole.calls(); failAt++) {
      const storage = await withSources()
      const accepted = await scenario(dying(storage, { failAt, mode }).storage)
      const survivor = createTestPosthorn({ storage, logger })
      await survivor.start()
      await survivor.clock.advance('1m')
      await survivor.stop()
      const events = (await survivor.events.list('quiet')).data
      const numbers = events.map(({ data }) => (data as { n: number }).n)
      expect(events.length, `call ${failAt}`).toBeGreaterThanOrEqual(accepted)
      expect(new Set(numbers).size, `call ${failAt}`).toBe(events.length)
      expect(await storage.inbox!.size(), `call ${failAt}`).toBe(0)
    }
  })
})
