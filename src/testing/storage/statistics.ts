import type { Settlement } from '../../contracts/storage/attempts.ts'
import type { Grouping, StatisticsQuery, StatisticsRow } from '../../contracts/storage/statistics.ts'
import type { Storage } from '../../contracts/storage.ts'
import { addCounts, countNames, noCounts, volumeOf } from '../../core/counts.ts'
import { maxTypes } from '../../core/counted-types.ts'
import { dayMs, hourMs, minuteMs } from '../../core/periods.ts'
import { equal, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, counted, endpoint, event, filled, made, settlement, start } from './rows.ts'

const plain = { enqueue: false }
const query: StatisticsQuery = { workspaceId: 'w', step: 'hour', from: start, to: start + 100 * dayMs }
const untold = { minutesBefore: 0, hoursBefore: 0, daysBefore: 0, limit: 1000 }

/** Settles attempts of one event in a workspace `w`, one for each ending, and folds the notes. */
async function settled(storage: Storage, endings: readonly (Partial<Settlement> & { endpoint?: string })[]) {
  const tries = endings.map(({ endpoint: endpoint_id = 'ep' }, i) => attempt(`t${1000 + i}`, 'e', { endpoint_id }))
  await filled(storage, [event('e')], tries)
  const batch = endings.map(({ endpoint: _, ...ending }, i) => settlement('w', tries[i]!, { counted, ...ending }))
  for (let from = 0; from < batch.length; from += 500) {
    await storage.attempts.settle(batch.slice(from, from + 500), plain)
  }
  await foldAll(storage)
  return batch
}

async function foldAll({ statistics }: Storage): Promise<void> {
  while ((await statistics.fold()) > 0);
}

/** What a row counts, zeros left out. */
function told({ counts }: StatisticsRow): Readonly<Record<string, number>> {
  return Object.fromEntries(countNames.map((name, i) => [name, counts[i]!]).filter(([, count]) => count !== 0))
}

async function sums(storage: Storage, asked: Partial<StatisticsQuery> = {}, grouping: Grouping | null = null) {
  const rows = await storage.statistics.sums({ ...query, ...asked }, grouping)
  const key = ({ time, group }: StatisticsRow): string => `${time} ${group}`
  return rows
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    .map((row) => [row.time - start, ...(row.group === null ? [] : [row.group]), told(row)])
}

const answer = (status: number, latency: number) => ({ response: { status, latency, headers: null, body: null } })
const failed = { status: 'FAILED', exhausted: false } as const

export const statisticsCases: Contract<Storage> = [
  promise('outcomes count by minute and by hour, with latency and class of the answer, each once', async (storage) => {
    const batch = await settled(storage, [
      { ...answer(200, 4) },
      { ...answer(204, 5), settled_at: start + minuteMs },
      { ...failed, ...answer(301, 4096), settled_at: start + minuteMs },
      { ...failed, ...answer(404, 4097), settled_at: start + hourMs },
      { ...failed, ...answer(503, 100), exhausted: true, settled_at: start + hourMs },
      { ...failed, attempted_at: start + hourMs, settled_at: start + hourMs + 65 },
      { status: 'CANCELED', attempted_at: null, settled_at: start + hourMs },
      { counted: null, settled_at: start + hourMs },
    ])
    await storage.attempts.settle(batch, plain)
    equal(await storage.statistics.fold(), 0, 'settled again')
    const first = { succeeded: 1, within_4: 1, answered_2xx: 1 }
    const second = { succeeded: 1, failed: 1, within_8: 1, within_4096: 1, answered_2xx: 1, answered_3xx: 1 }
    const third = {
      failed: 3,
      exhausted: 1,
      canceled: 1,
      within_128: 2,
      beyond: 1,
      answered_4xx: 1,
      answered_5xx: 1,
      unanswered: 1,
    }
    equal(
      await sums(storage, { step: 'minute' }),
      [
        [0, first],
        [minuteMs, second],
        [hourMs, third],
      ],
      'minutes',
    )
    const hour = { ...second, succeeded: 2, within_4: 1, answered_2xx: 2 }
    equal(
      await sums(storage),
      [
        [0, hour],
        [hourMs, third],
      ],
      'hours',
    )
    equal((await sums(storage, { step: 'day' })).length, 1, 'one day')
    equal(await sums(storage, { from: start + hourMs }), [[hourMs, third]], 'from a time on')
    equal(await sums(storage, { to: start + hourMs }), [[0, hour]], 'before a time')
  }),

  promise('sums are told by endpoint and type, of one workspace or of all, the rest as one group', async (storage) => {
    const of = (endpointId: string, event_type: string) => ({
      endpoint: endpointId,
      counted: { event_type, told: false },
    })
    await settled(storage, [of('a', 'x'), of('a', 'x'), of('a', 'y'), of('b', 'y'), of('b', 'z'), of('c', 'z')])
    await made(storage, 'other')
    const names = (by: Grouping['by'], asked: Partial<StatisticsQuery> = {}) =>
      storage.statistics.groups({ ...query, ...asked }, by, 2)
    equal(await names('endpoint'), ['a', 'b'], 'the largest endpoints')
    equal(await names('event_type'), ['x', 'y'], 'the largest types, equal ones by name')
    equal(await names('workspace', { workspaceId: null }), ['w'], 'workspaces with attempts')
    const counts = async (asked: Partial<StatisticsQuery>, grouping: Grouping | null) =>
      (await storage.statistics.sums({ ...query, ...asked }, grouping))
        .map((row) => [row.group, volumeOf(row.counts)])
        .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    equal(
      await counts({}, { by: 'endpoint', names: ['a', 'b'] }),
      [
        ['*', 1],
        ['a', 3],
        ['b', 2],
      ],
      'by endpoint',
    )
    equal(
      await counts({}, { by: 'event_type', names: ['x'] }),
      [
        ['*', 4],
        ['x', 2],
      ],
      'by type',
    )
    equal(await counts({ endpoint_id: 'a', event_type: 'x' }, null), [[null, 2]], 'of one endpoint and type')
    equal(await counts({ workspaceId: null }, { by: 'workspace', names: ['w'] }), [['w', 6]], 'of all workspaces')
    equal(await counts({ workspaceId: 'other' }, null), [], 'of another workspace')
  }),

  promise('a workspace counts a thousand types by name, and the rest together', async (storage) => {
    const types = Array.from({ length: maxTypes + 5 }, (_, i) => `type ${i}`)
    await settled(
      storage,
      types.map((event_type) => ({ counted: { event_type, told: false } })),
    )
    const found = await storage.statistics.groups(query, 'event_type', 2000)
    equal([found.length, found[0]], [maxTypes + 1, '*'], 'groups')
    equal(await sums(storage, { event_type: '*' }), [[0, { succeeded: 5, within_16: 5, unanswered: 5 }]], 'the rest')
  }),

  promise('a streak tells of the last success and failure, and counts the failures since', async (storage) => {
    const at = (ms: number) => ({ settled_at: start + ms })
    await settled(storage, [
      { ...failed, ...at(1) },
      { ...at(2) },
      { ...failed, ...at(3) },
      { ...failed, exhausted: true, ...at(4) },
      { status: 'CANCELED', attempted_at: null, ...at(5) },
    ])
    const after = { succeeded_at: start + 2, failed_at: start + 4, attempt_id: 't1003', failures: 2, exhausted: 1 }
    equal(await storage.statistics.streak('w', 'ep'), after, 'in one batch')
    const more = ['x', 'y', 'z'].map((id) => attempt(id, 'e'))
    await storage.attempts.add('w', more, plain)
    const next = async (one: number, ending: Partial<Settlement>) => {
      await storage.attempts.settle([settlement('w', more[one]!, { counted, ...ending })], plain)
      await foldAll(storage)
      return there(await storage.statistics.streak('w', 'ep'), 'a streak')
    }
    const third = { ...after, failed_at: start + 6, attempt_id: 'x', failures: 3 }
    equal(await next(0, { ...failed, ...at(6) }), third, 'one more failure')
    equal(await next(1, at(3)), { ...third, succeeded_at: start + 3 }, 'a success told late')
    const ended = { ...third, succeeded_at: start + 7, failures: 0, exhausted: 0 }
    equal(await next(2, at(7)), ended, 'a success')
    equal(await storage.statistics.streak('w', 'none'), null, 'an endpoint without a try')
  }),

  promise('old minutes go, old hours become days that count the same, and old days go', async (storage) => {
    const times = [0, 1, 23, 24, 25, 50].map((hour) => start + hour * hourMs)
    await settled(
      storage,
      times.map((settled_at) => ({ settled_at, ...answer(200, 1) })),
    )
    await storage.endpoints.insert('w', endpoint('ep'))
    const days = await sums(storage, { step: 'day' })
    equal(
      days.map(([day]) => day),
      [0, dayMs, 2 * dayMs],
      'days',
    )
    equal(await storage.statistics.tidy({ ...untold, minutesBefore: start + 2 * hourMs }), 2, 'minutes')
    equal((await sums(storage, { step: 'minute' })).length, 4, 'minutes that are left')
    const rollup = { ...untold, hoursBefore: start + 2 * dayMs, limit: 3 }
    equal(await storage.statistics.tidy(rollup), 3, 'as many hours as the limit says')
    equal(await sums(storage, { step: 'day' }), days, 'days, in the middle')
    equal([await storage.statistics.tidy(rollup), await storage.statistics.tidy(rollup)], [2, 0], 'the other hours')
    equal(await sums(storage, { step: 'day' }), days, 'days, at the end')
    equal((await sums(storage)).length, 1, 'hours that are left')
    equal(await storage.statistics.tidy({ ...untold, daysBefore: start + 2 * dayMs }), 2, 'old days')
    equal(await sums(storage, { step: 'day' }), days.slice(2), 'days that are left')
    equal((await storage.statistics.streak('w', 'ep'))?.succeeded_at, times.at(-1), 'the streak of an endpoint stays')
  }),

  promise('the sums of a deleted workspace are gone, also for one made anew under its id', async (storage) => {
    await settled(storage, [{}, { ...failed }])
    await storage.attempts.add('w', [attempt('late', 'e')], plain)
    await storage.attempts.settle([settlement('w', attempt('late', 'e'), { counted })], plain)
    await storage.workspaces.delete('w')
    await foldAll(storage)
    equal(await sums(storage, { workspaceId: null }), [], 'of all')
    await made(storage, 'w')
    equal([await sums(storage), await storage.statistics.streak('w', 'ep')], [[], null], 'of the new one')
    for (let rounds = 0; (await storage.purge({ eventsBefore: null, attemptsBefore: null, limit: 5 })) > 0;) {
      if (++rounds > 20) throw new Error('the purge does not end')
    }
    equal(await sums(storage), [], 'after the purge')
  }),

  promise('folds side by side, beside settlements, count every outcome once', async (storage) => {
    const tries = Array.from({ length: 240 }, (_, i) => attempt(`t${1000 + i}`, 'e', { endpoint_id: `ep${i % 7}` }))
    await filled(storage, [event('e')], tries)
    const settling = Array.from({ length: 24 }, async (_, part) => {
      const batch = tries.slice(10 * part, 10 * part + 10).map((one) => settlement('w', one, { counted }))
      await storage.attempts.settle(batch, plain)
      await storage.statistics.fold()
    })
    await Promise.all(settling)
    await foldAll(storage)
    const sum = noCounts()
    for (const { counts } of await storage.statistics.sums(query, null)) addCounts(sum, counts)
    equal(volumeOf(sum), 240, 'outcomes')
  }),
]
