import { afterAll, beforeAll, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { connect } from '../../adapters/redis/client.ts'
import { fillLists } from '../../adapters/redis/fill-lists.ts'
import { redis } from '../../adapters/redis/index.ts'
import { tagOf } from '../../adapters/redis/keys.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import type { AttemptQuery, NewAttempt, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { AttemptSought, EventHead, TimelineQuery } from '../../src/contracts/storage/events.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { timePrefix } from '../../src/core/id.ts'
import { type Random, random } from '../../src/testing/random.ts'
import {
  attempt,
  entry,
  event,
  everything,
  ids,
  revisionOf,
  settlement,
  start,
  workspace,
} from '../../src/testing/storage/rows.ts'
import { storageBefore } from '../support/redis-storage-before.ts'
import {
  clients,
  describeOwnRedis,
  freshNamespace,
  startRedis,
  type TestClient,
  type TestRedis,
} from '../support/redis.ts'

const plain = { enqueue: false }
const endpoints = ['e1', 'e2', 'rare'] as const
const minute = 60_000
const hour = 60 * minute
type Writes = Pick<Storage, 'purge'> & { ingest: Storage['events']['ingest'] } & Pick<
    Storage['attempts'],
    'settle' | 'add'
  >

describeOwnRedis('lists on Redis', { timeout: 60_000 }, () => {
  let server: TestRedis
  let connected: TestClient
  beforeAll(async () => {
    server = await startRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })
  const place = (client = connected.client) => {
    const namespace = freshNamespace()
    const tag = tagOf(namespace)
    return {
      tag,
      storage: redis(client, { namespace }),
      before: storageBefore(connected, namespace),
      /** Goes on filling as long as there is something to look at. */
      fill: async (now: number, by = connected.client) => {
        let looked = 0
        for (let more = -1; more !== 0; looked += more) more = await fillLists(connect(by), tag, now)
        return looked
      },
      isWhole: async () => (await connected.command('EXISTS', `${tag}:lists-whole`)) === 1,
    }
  }

  test.each([0, 1, 2, 3, 4, 5])(
    'lists answer as those of memory, wherever ids and times lie: seed %i',
    async (seed) => {
      const { storage, isWhole } = place()
      const reference = memory()
      for (const each of [storage, reference]) await each.workspaces.insert(workspace('w'))
      const made = await write(random(seed), 150, [writesOf(storage), writesOf(reference)], [storage, reference])
      expect(await isWhole()).toBe(true)
      await compare(random(1000 + seed), made, storage, reference)
    },
  )

  test.each([0, 1, 2, 3])(
    'a store of the version before is listed right, before, while and after it is filled: seed %i',
    async (seed) => {
      const { storage, before, fill, isWhole, tag } = place()
      const reference = memory()
      await before.insertWorkspace(workspace('w'))
      await reference.workspaces.insert(workspace('w'))
      const made = await write(random(seed), 60, [before, writesOf(reference)], [storage, reference], 'old')
      const dice = random(2000 + seed)
      await compare(dice, made, storage, reference)

      // A process that dies in the midst: another goes on there.
      let left = 6
      const dying = {
        call: (name: string, ...args: string[]): Promise<unknown> =>
          left-- > 0 ? connected.command(name, ...args) : Promise.reject(new Error('the process ends here')),
      }
      await expect(fillLists(connect(dying), tag, start, 10)).rejects.toMatchObject({ code: 'unavailable' })
      await compare(dice, made, storage, reference)
      expect(await fill(start)).toBeGreaterThan(0)
      expect(await isWhole()).toBe(false)

      // Processes of both versions write beside each other, for a while.
      const either = random(3000 + seed)
      const mixed: Writes = {
        ingest: (...args) => (either.below(2) === 0 ? before : writesOf(storage)).ingest(...args),
        settle: (...args) => (either.below(2) === 0 ? before : writesOf(storage)).settle(...args),
        add: (...args) => (either.below(2) === 0 ? before : writesOf(storage)).add(...args),
        purge: (...args) => (either.below(2) === 0 ? before : writesOf(storage)).purge(...args),
      }
      made.push(...(await write(random(50 + seed), 60, [mixed, writesOf(reference)], [storage, reference], 'mixed')))
      await compare(dice, made, storage, reference)
      expect(await fill(start + minute)).toBe(0)
      expect(await fill(start + 2 * hour)).toBeGreaterThan(0)
      expect(await isWhole(), 'something was missing').toBe(false)
      expect(await fill(start + 4 * hour)).toBeGreaterThan(0)
      expect(await isWhole(), 'nothing was missing').toBe(true)
      await compare(dice, made, storage, reference)
    },
  )

  test('lists of a store to which the version before came back are looked at again', async () => {
    const { storage, before, fill, isWhole } = place()
    const reference = memory()
    for (const each of [storage, reference]) await each.workspaces.insert(workspace('w'))
    const now = await storage.time()
    const made = await write(random(7), 20, [writesOf(storage), writesOf(reference)], [storage, reference])
    expect(await fill(now + minute)).toBe(0)
    made.push(...(await write(random(8), 30, [before, writesOf(reference)], [storage, reference], 'mixed')))
    expect(await fill(now + hour)).toBeGreaterThan(0)
    expect(await isWhole()).toBe(false)
    await compare(random(9), made, storage, reference)
    expect(await fill(now + 3 * hour)).toBeGreaterThan(0)
    expect(await isWhole()).toBe(true)
    await compare(random(10), made, storage, reference)
  })

  test('what is removed leaves no list behind', async () => {
    const { storage, tag } = place()
    const reference = memory()
    for (const each of [storage, reference]) await each.workspaces.insert(workspace('w'))
    await write(random(11), 80, [writesOf(storage), writesOf(reference)], [storage, reference])
    const { rows } = await storage.events.list('w', { ...everything, limit: 1000 })
    expect(await storage.events.erase('w', ids(rows))).toBeGreaterThan(20)
    const keys = (await connected.command('KEYS', `${tag}:*`)) as string[]
    expect(keys.map((key) => key.slice(tag.length)).filter((key) => /room:1:|attempt|event/.test(key))).toEqual([])
  })

  test('a page reads few entries, however many stand beside', async () => {
    const { storage } = place()
    await storage.workspaces.insert(workspace('w'))
    const revision = await revisionOf(storage, 'w')
    const at = (n: number) => start + n * 1000
    for (let from = 0; from < 6000; from += 500) {
      const rows = Array.from({ length: 500 }, (_, i) => {
        const n = from + i
        const time = at(n)
        const one = event(idAt(time, n), { created_at: time, ingested_at: time })
        const endpoint_id = n % 1000 === 3 ? 'rare' : 'e1'
        const first = attempt(idAt(time, n + 10_000), one.id, { endpoint_id, created_at: time, scheduled_at: time })
        const due = { created_at: time + 10, scheduled_at: time + 900_000, attempt_number: 2 }
        const next = attempt(idAt(time + 10, n + 20_000), one.id, { endpoint_id, ...due, trigger_mode: 'AUTOMATIC' })
        return { n, one, first, next }
      })
      await storage.events.ingest(
        rows.map(({ one, first }) => entry('w', revision, one, [first])),
        plain,
      )
      const ends = rows.map(({ n, first, next }) => {
        if (n % 500 === 7) return settlement('w', first, { status: 'FAILED', exhausted: true })
        if (n % 500 === 8) return settlement('w', first, { status: 'CANCELED' })
        if (n % 500 === 9) return settlement('w', first, { status: 'FAILED', response: refused, next })
        return n % 10 === 0 ? settlement('w', first, { status: 'FAILED', next }) : settlement('w', first)
      })
      await storage.attempts.settle(ends, plain)
      const again = rows.filter(({ n }) => n % 10 === 0).map(({ next }) => settlement('w', next))
      await storage.attempts.settle(again, plain)
    }
    const posthorn = createPosthorn({ storage })
    const cost = async (read: () => Promise<{ readonly data: readonly unknown[] }>) => {
      await read()
      await connected.command('CONFIG', 'RESETSTAT')
      const { length } = (await read()).data
      const stats = String(await connected.command('INFO', 'commandstats'))
      const calls = [...stats.matchAll(/cmdstat_(?:hget|hmget):calls=(\d+)/g)].map(([, count]) => Number(count))
      return { length, isFew: calls.reduce((sum, count) => sum + count, 0) < 400 }
    }
    const range = (from: number, to: number) => ({ gte: at(from), lt: at(to) })
    const page = { length: 20, isFew: true }
    for (const sort of ['id.asc', 'id.desc'] as const) {
      for (const field of ['created_at', 'scheduled_at']) {
        for (const from of [60, 3000, 5500]) {
          const query = { limit: 20, sort, [field]: range(from, from + 400) }
          expect(await cost(() => posthorn.attempts.list('w', query)), `${sort} ${field} ${from}`).toEqual(page)
        }
      }
    }
    const deliveries = (query: object) => cost(() => posthorn.deliveries.list('w', { limit: 5, ...query }))
    const few = { length: 5, isFew: true }
    expect(await deliveries({ endpoint_id: 'rare' })).toEqual(few)
    expect(await deliveries({ status: 'FAILED' })).toEqual(few)
    expect(await deliveries({ status: 'FAILED', endpoint_id: 'e1' })).toEqual(few)
    expect(await deliveries({ status: 'CANCELED', endpoint_id: 'e1' })).toEqual(few)
    expect(await deliveries({ status: 'RETRYING' })).toEqual(few)
    expect(await deliveries({ status: 'PENDING' })).toEqual({ length: 0, isFew: true })
    expect(await deliveries({ response_status: 503 })).toEqual(few)
    expect(await deliveries({ response_status: 404 })).toEqual({ length: 0, isFew: true })
    expect(await deliveries({ status: 'FAILED', created_at: range(2500, 6000) })).toEqual(few)
  })
})

const refused = { status: 503, latency: 3, headers: {}, body: '' }
const writesOf = (storage: Storage): Writes => ({
  ingest: (...args) => storage.events.ingest(...args),
  settle: (...args) => storage.attempts.settle(...args),
  add: (...args) => storage.attempts.add(...args),
  purge: (...args) => storage.purge(...args),
})
const idAt = (time: number, n: number): string => `${timePrefix(time)}${String(n).padStart(16, '0')}`

/** Writes a history to all stores alike, and answers its attempts. */
async function write(
  dice: Random,
  steps: number,
  writers: readonly Writes[],
  storages: readonly Storage[],
  name: '' | 'old' | 'mixed' = '',
): Promise<NewAttempt[]> {
  const { below, of } = dice
  const made: NewAttempt[] = []
  let now = start
  // What the version before stored of events whose ids tell no time is found once the store is filled.
  const isOld = name !== ''
  let count = name === 'mixed' ? 100_000 : 0
  const id = (): string => {
    const n = (++count * 3701) % 1_000_003
    const kind = below(40)
    if (kind === 0) return `odd-${n}`
    return idAt(
      kind === 1 ? now - 30_000 : kind === 2 ? now - 20 * minute : kind === 3 ? now + 40_000 : now + below(30),
      n,
    )
  }
  const tryOf = (event_id: string, endpoint_id: string, more: Partial<NewAttempt> = {}): NewAttempt => {
    const wait = of([0, 0, 0, 700, 5000, 5 * minute, 2 * hour, -20])
    const one = attempt(id(), event_id, { endpoint_id, created_at: now, scheduled_at: now + wait, ...more })
    made.push(one)
    return one
  }
  const all = async <T>(act: (writes: Writes, storage: Storage) => Promise<T>) => {
    for (const [i, writes] of writers.entries()) await act(writes, storages[i]!)
  }
  for (let step = 0; step < steps; step++) {
    now += below(3) === 0 ? 0 : below(200_000)
    if (made.length === 0 || below(2) === 0) {
      const one = event(isOld ? idAt(now, ++count) : id(), { created_at: now - below(3), ingested_at: now })
      const chosen = Array.from({ length: below(3) }, () => of(endpoints))
      const planned = (isOld ? [...new Set(chosen)] : chosen).map((endpoint_id) =>
        tryOf(one.id, endpoint_id, { created_at: one.created_at }),
      )
      await all(async (writes, storage) =>
        writes.ingest([entry('w', await revisionOf(storage, 'w'), one, planned)], plain),
      )
    } else if (below(6) === 0) {
      const again = tryOf(of(made).event_id, of(endpoints), { trigger_mode: of(['MANUAL', 'TEST']) })
      await all((writes) => writes.add('w', [again], plain))
    } else if (below(30) === 0) {
      await all((writes) => writes.purge({ eventsBefore: now - 2 * hour, attemptsBefore: now - hour, limit: 10_000 }))
    } else {
      const tried = of(made)
      const status = of(['SUCCESSFUL', 'FAILED', 'FAILED', 'CANCELED'] as const)
      const follows = status === 'FAILED' && below(2) === 0
      const more: Partial<Settlement> = {
        status,
        exhausted: status === 'FAILED' && !follows,
        settled_at: now,
        response: status === 'FAILED' && below(2) === 0 ? refused : null,
        next: follows
          ? tryOf(tried.event_id, tried.endpoint_id, { attempt_number: 2, trigger_mode: 'AUTOMATIC' })
          : null,
      }
      await all((writes) => writes.settle([settlement('w', tried, more)], plain))
    }
  }
  return made
}

/** Asks both stores for pages of many kinds. */
async function compare(dice: Random, made: readonly NewAttempt[], storage: Storage, reference: Storage): Promise<void> {
  const { below, of } = dice
  const last = Math.max(...made.map(({ created_at }) => created_at))
  const range = () => {
    const from = start + below(last - start)
    return of([
      { gte: from },
      { lt: from },
      { gt: from, lte: from + below(hour) },
      { gte: from, lt: from + 5 * minute },
    ])
  }
  const sometimes = (part: object) => (below(3) === 0 ? part : {})
  for (let n = 0; n < 80; n++) {
    const cursor = below(4) === 0 ? { [of(['after', 'before'])]: of(made).id } : {}
    const query: AttemptQuery = {
      ...everything,
      page: null,
      limit: 1 + below(8),
      descending: below(2) === 0,
      ...of([{ scheduled_at: range() }, { created_at: range() }, { scheduled_at: range(), created_at: range() }]),
      ...cursor,
      ...sometimes({ endpoint_id: of(endpoints) }),
      ...sometimes({ status: of(['OPEN', 'SUCCESSFUL', 'FAILED', 'CANCELED']) }),
    }
    expect(await storage.attempts.list('w', query), JSON.stringify(query)).toEqual(
      await reference.attempts.list('w', query),
    )
  }
  const soughts: readonly AttemptSought[] = [
    { status: 'OPEN', retried: true },
    { status: 'OPEN', retried: false },
    { status: 'FAILED', exhausted: true },
    { status: 'FAILED', response_status: 503 },
    { status: 'FAILED', exhausted: true, response_status: 503 },
    { status: 'FAILED', response_status: 404 },
    { status: 'CANCELED' },
    { status: 'SUCCESSFUL' },
    {},
  ]
  const order = { from: null, limit: 1000 }
  for (let n = 0; n < 40; n++) {
    const having = { ...of(soughts), ...sometimes({ endpoint_id: of(endpoints) }) }
    const query = { ...sometimes({ created_at: range() }), descending: below(2) === 0 }
    const limit = 1 + below(8)
    const found: EventHead[] = []
    for (let from: TimelineQuery['from'] = null; ;) {
      const page = await storage.events.timeline('w', { ...query, having, from, limit })
      found.push(...page)
      const end = page.at(-1)
      if (end === undefined || page.length < limit) break
      from = { created_at: end.created_at, id: end.id, inclusive: false }
    }
    const asked = JSON.stringify({ having, ...query, limit })
    const all = await reference.events.timeline('w', { ...query, ...order })
    const sought = await reference.events.timeline('w', { ...query, ...order, having })
    const answered = new Set(ids(found))
    expect(found, `${asked}: in order, each once`).toEqual(all.filter(({ id }) => answered.has(id)))
    expect(
      sought.filter(({ id }) => !answered.has(id)),
      `${asked}: none is left out`,
    ).toEqual([])
  }
}
