import type { Storage } from '../../contracts/storage.ts'
import type { NewAttempt, Settlement } from '../../contracts/storage/attempts.ts'
import type { AttemptSought, EventHead, TimelineQuery } from '../../contracts/storage/events.ts'
import type { StoredEvent } from '../../schema/event.ts'
import { isSought } from '../../core/attempt-sought.ts'
import { timePrefix } from '../../core/id.ts'
import { equal, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, event, filled, ids, settlement, start } from './rows.ts'

const plain = { enqueue: false }
const minute = 60_000

export const timelineCases: Contract<Storage> = [
  promise('a timeline of events is walked both ways, whatever their ids tell, with their attempts', async (storage) => {
    const ours = Array.from({ length: 40 }, (_, n) =>
      event(`${timePrefix(start + (n >> 1) * minute)}${String(n).padStart(16, '0')}`, {
        created_at: start + (n >> 1) * minute,
        event_type: n % 4 === 0 ? 'rare' : 'often',
      }),
    )
    const others = [3, 3, 17, 40].map((n, i) => event(`own${i}`, { created_at: start + n * minute }))
    const late = event(`${timePrefix(start + 30 * minute)}${'0'.repeat(16)}`, { created_at: start + 2 * minute })
    const events = [...ours, ...others, late]
    await filled(storage, events, [attempt('t', 'own0'), attempt('u', 'own0', { endpoint_id: 'other' })])
    const sorted = events.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
    for (const query of [
      {},
      { event_type: 'rare' },
      { created_at: { gte: start + 2 * minute, lt: start + 18 * minute } },
      { ids: ['own1', ours[7]!.id, 'nobody'] },
    ] as readonly Partial<TimelineQuery>[]) {
      const { gte = -Infinity, lt = Infinity } = query.created_at ?? {}
      const expected = sorted.filter(
        ({ id, event_type, created_at }) =>
          (query.event_type ?? event_type) === event_type &&
          created_at >= gte &&
          created_at < lt &&
          query.ids?.includes(id) !== false,
      )
      for (const descending of [true, false]) {
        const found: string[] = []
        for (let from: TimelineQuery['from'] = null; ;) {
          const page = await storage.events.timeline('w', { ...query, from, descending, limit: 3 })
          found.push(...ids(page))
          const last = page.at(-1)
          if (last === undefined || page.length < 3) break
          from = { created_at: last.created_at, id: last.id, inclusive: false }
        }
        equal(found, ids(descending ? expected.toReversed() : expected), `${JSON.stringify(query)} ${descending}`)
        const at = there(expected[1], 'the second one')
        const from = { created_at: at.created_at, id: at.id, inclusive: true }
        const [first] = await storage.events.timeline('w', { ...query, from, descending, limit: 1 })
        const head = { id: at.id, event_type: at.event_type, unique_id: null, created_at: at.created_at }
        equal(first, head, 'with the place itself')
      }
    }
  }),

  promise('the attempts of events are read in parts, in the order of events and endpoints', async (storage) => {
    // More than an engine reads at once, and each endpoint with two attempts.
    const wide = Array.from({ length: 260 }, (_, n) =>
      attempt(`w${String((n * 7) % 260).padStart(3, '0')}`, 'wide', {
        endpoint_id: `ep${String(n >> 1).padStart(3, '0')}`,
      }),
    )
    const few = [attempt('t', 'few', { endpoint_id: 'ep1' }), attempt('u', 'few', { endpoint_id: 'ep0' })]
    await filled(storage, [event('wide'), event('few'), event('none')], [...wide, ...few])
    type Query = Parameters<Storage['attempts']['ofEvents']>[2]
    const read = async (events: readonly string[], query: Query) =>
      ids(await storage.attempts.ofEvents('w', events, query)).join(' ')
    const keyOf = ({ endpoint_id, id }: NewAttempt) => `${endpoint_id} ${id}`
    const inOrder = wide.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const events = ['few', 'nobody', 'none', 'wide']
    equal(await read(events, { limit: 1000 }), ['u', 't', ...ids(inOrder)].join(' '), 'all')
    equal(await read(events.toReversed(), { limit: 261 }), [...ids(inOrder), 'u'].join(' '), 'in the order given')
    equal(await read(events, { limit: 3 }), `u t ${inOrder[0]!.id}`, 'no more than asked for')
    equal(await read(events, { limit: 1000, endpointId: 'ep1' }), 't', 'of an endpoint')
    equal(await read(['wide'], { limit: 1000, endpointId: 'ep040' }), ids(inOrder.slice(80, 82)).join(' '), 'of few')
    for (const descending of [false, true]) {
      const expected = ids(descending ? inOrder.toReversed() : inOrder)
      const found: string[] = []
      for (let after: Query['after'] = null; ;) {
        const rows = await storage.attempts.ofEvents('w', ['wide'], { after, descending, limit: 101 })
        found.push(...ids(rows))
        const last = rows.at(-1)
        if (last === undefined || rows.length < 101) break
        after = [last.endpoint_id, last.id]
      }
      equal(found, expected, `part by part, ${descending ? 'down' : 'up'}`)
    }
    equal(await storage.attempts.ofEvents('nobody', ['few'], { limit: 9 }), [], 'of another workspace')
  }),

  ...[false, true].map((ours) =>
    promise(
      `a timeline narrowed by attempts leaves out no event that has such an attempt, ${ours ? 'with ids that tell the time' : 'whatever the ids'}`,
      (storage: Storage) => narrowedTimeline(storage, ours),
    ),
  ),

  promise('events that an endpoint never got are found in steps, and added to it once', async (storage) => {
    const events = ['a', 'b', 'c', 'd'].map((id, n) => event(id, { created_at: start + n }))
    await filled(storage, events, [attempt('1', 'b'), attempt('2', 'c', { endpoint_id: 'other' })])
    await storage.attempts.add('w', [attempt('3', 'd', { endpoint_id: 'other', trigger_mode: 'TEST' })], plain)
    const find = async (query: object = {}) => {
      const found = await storage.attempts.missing('w', { endpoint_id: 'ep', after: null, limit: 100, ...query })
      return [ids(found.events).join(' '), found.next]
    }
    equal(await find(), ['a c', null], 'all')
    equal(await find({ endpoint_id: 'other' }), ['a b', null], 'of another endpoint; none of a test')
    equal(await find({ limit: 2 }), ['a', 'b'], 'the first step')
    equal(await find({ limit: 2, after: 'b' }), ['c', null], 'the second step')
    equal(await find({ created_at: { gt: start } }), ['c', null], 'by time')
    const { events: found } = await storage.attempts.missing('w', { endpoint_id: 'ep', after: null, limit: 1 })
    equal(found, [{ id: 'a', event_type: 'order.paid' }], 'with the type')
    equal(
      await storage.attempts.missing('nobody', { endpoint_id: 'ep', after: null, limit: 5 }),
      { events: [], next: null },
      'of no workspace',
    )
    const firsts = (round: number) => events.map(({ id }) => attempt(`m${id}${round}`, id, { trigger_mode: 'MANUAL' }))
    const rounds = await Promise.all(
      Array.from({ length: 8 }, (_, n) => storage.attempts.add('w', firsts(n), { enqueue: false, first: true })),
    )
    const added = [0, 1, 2, 3].map((at) => rounds.filter((round) => round[at]).length)
    equal(added, [1, 0, 1, 0], 'of eight side by side')
    equal(await find(), ['', null], 'then')
    const again = await storage.attempts.add('w', [attempt('z', 'a', { trigger_mode: 'MANUAL' })], plain)
    equal(again, [true], 'one more by hand')
    const sideBySide = Array.from({ length: 8 }, (_, n) =>
      storage.attempts.add('w', [attempt(`s${n}`, 'c', { endpoint_id: 'new', trigger_mode: 'MANUAL' })], plain),
    )
    equal(
      (await Promise.all(sideBySide)).flat(),
      Array.from({ length: 8 }, () => true),
      'by hand side by side',
    )
  }),
]

/** Stores events with successes, follow-ups, retries by hand and tests. */
async function storeForNarrowing(storage: Storage, ours: boolean): Promise<readonly StoredEvent[]> {
  const hour = 60 * minute
  const timesAt = (n: number, later = 0) => {
    const time = start + (n >> 1) * minute + later
    return { created_at: time, scheduled_at: time }
  }
  const idAt = (n: number, which: string, later = 0) =>
    ours
      ? `${timePrefix(timesAt(n, later).created_at)}${String(n).padStart(15, '0')}${which.toUpperCase()}`
      : `${which}${n}`
  const tries = (n: number): readonly NewAttempt[] => [
    attempt(idAt(n, 'a'), `e${n}`, { ...timesAt(n), endpoint_id: n % 3 === 0 ? 'rare' : 'ep' }),
    attempt(idAt(n, 'b'), `e${n}`, {
      ...timesAt(n),
      endpoint_id: 'second',
      trigger_mode: n % 5 === 0 ? 'TEST' : 'INITIAL',
    }),
  ]
  const events = Array.from({ length: 24 }, (_, n) => event(`e${n}`, { created_at: timesAt(n).created_at }))
  await filled(
    storage,
    events,
    events.flatMap((_, n) => tries(n)),
  )
  const outcomes = events.flatMap((_, n): Settlement[] => {
    const [first, second] = tries(n) as [NewAttempt, NewAttempt]
    const next = attempt(idAt(n, 'c', hour), `e${n}`, {
      ...timesAt(n, hour),
      endpoint_id: first.endpoint_id,
      attempt_number: 2,
    })
    const response = { status: n % 2 === 0 ? 500 : 404, latency: 3, headers: null, body: null }
    if (n % 4 === 0) return [settlement('w', first, { status: 'FAILED', response, exhausted: true })]
    if (n % 4 === 1) return [settlement('w', first, { status: 'FAILED', response, next })]
    if (n % 4 === 2) return [settlement('w', first), settlement('w', second, { status: 'CANCELED' })]
    return []
  })
  await storage.attempts.settle(outcomes, plain)
  const byHand = (n: number, endpoint_id: string) =>
    attempt(idAt(n, 'd', 2 * hour), `e${n}`, { ...timesAt(n, 2 * hour), endpoint_id, trigger_mode: 'MANUAL' })
  const again = [byHand(0, 'rare'), byHand(4, 'ep'), byHand(8, 'ep'), byHand(2, 'late'), byHand(12, 'late')]
  await storage.attempts.add('w', again, plain)
  const response = { status: 503, latency: 3, headers: null, body: null }
  const [, second, third, late] = again as [NewAttempt, NewAttempt, NewAttempt, NewAttempt]
  const ends = [
    settlement('w', second),
    settlement('w', third, { status: 'FAILED', response, exhausted: true }),
    settlement('w', late, { status: 'CANCELED' }),
    settlement('w', attempt(idAt(1, 'c', hour), 'e1', { endpoint_id: 'ep', attempt_number: 2 })),
  ]
  equal((await storage.attempts.settle(ends, plain)).filter(({ settled }) => settled).length, 4, 'settled')
  return events
}

/** Asks for events by attempts in all ways. */
async function narrowedTimeline(storage: Storage, ours: boolean): Promise<void> {
  const events = await storeForNarrowing(storage, ours)
  const stored = await storage.attempts.ofEvents('w', ids(events), { limit: 1000 })
  const soughts: readonly AttemptSought[] = [
    { endpoint_id: 'rare' },
    { status: 'OPEN' },
    { status: 'OPEN', retried: true },
    { status: 'OPEN', retried: false, endpoint_id: 'rare' },
    { status: 'FAILED', exhausted: true },
    { status: 'FAILED', response_status: 500 },
    { status: 'FAILED', response_status: 404, endpoint_id: 'rare' },
    { status: 'CANCELED' },
    { status: 'CANCELED', endpoint_id: 'second' },
    { endpoint_id: 'nobody' },
    { endpoint_id: 'late' },
    { status: 'FAILED', response_status: 503 },
    { status: 'CANCELED', endpoint_id: 'late' },
    { status: 'OPEN', endpoint_id: 'second' },
  ]
  const ranges = [{}, { created_at: { gte: start + minute, lt: start + 9 * minute } }]
  for (const having of soughts) {
    for (const range of ranges) {
      const all = await storage.events.timeline('w', { ...range, from: null, descending: false, limit: 100 })
      const expected = all.filter(({ id }) => {
        const own = stored.filter(({ event_id }) => event_id === id)
        return own.some((each) => isSought(each, own, having))
      })
      for (const descending of [true, false]) {
        const found: EventHead[] = []
        for (let from: TimelineQuery['from'] = null; ;) {
          const page = await storage.events.timeline('w', { ...range, having, from, descending, limit: 3 })
          found.push(...page)
          const last = page.at(-1)
          if (last === undefined || page.length < 3) break
          from = { created_at: last.created_at, id: last.id, inclusive: false }
        }
        const told = `${JSON.stringify({ having, ...range })} ${descending}`
        const answered = new Set(ids(found))
        const inOrder = all.filter(({ id }) => answered.has(id))
        equal(ids(found), ids(descending ? inOrder.toReversed() : inOrder), `${told}: in order, each once`)
        equal(ids(expected.filter(({ id }) => !answered.has(id))), [], `${told}: none is left out`)
      }
    }
  }
}
