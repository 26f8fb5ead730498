import type { IngestEntry } from '../../contracts/storage/events.ts'
import type { Settlement } from '../../contracts/storage/attempts.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal, ok } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, counted, entry, event, everything, filled, ids, made, revisionOf, settlement, start } from './rows.ts'

const nul = 'a\0b'
const lone = '"\ud800"'
/** Numbers that no engine, or not every engine, has a place for. */
const numbers = [Number.NaN, Infinity, -Infinity, 1e300, 0.5, 2 ** 63]
const place = (n: number) => String(100 + n)

/** Entries that an engine may refuse, each with a separate attempt. */
function oddEntries(revision: number): readonly IngestEntry[] {
  const of = (n: number, more: object, tries: object = {}) => {
    const id = `odd${place(n)}`
    const attempts = [attempt(`${id}-a`, id), attempt(`${id}-b`, id, tries), attempt(`${id}-c`, id)]
    return entry('w', revision, event(id, more), attempts)
  }
  const long = 'x'.repeat(100_000)
  const texts = [nul, lone].flatMap((text) => [{ data: text }, { event_type: text }, { unique_id: text }])
  const wrong = [
    ...texts,
    ...numbers.flatMap((at) => [{ created_at: at }, { ingested_at: at }]),
    { unique_id: long },
    { event_type: long },
  ]
  const tries = [
    ...numbers.flatMap((at) => [{ scheduled_at: at }, { attempt_number: at }, { created_at: at }]),
    { endpoint_id: nul },
    { trigger_mode: nul },
  ]
  return [
    ...wrong.map((more, n) => of(n, more)),
    ...tries.map((more, n) => of(wrong.length + n, {}, more)),
    entry(nul, revision, event('odd-a')),
    entry('w', revision, event(nul)),
    { ...entry('w', revision, event('odd-b')), trace: nul },
  ]
}

/** Settlements of these attempts that an engine may refuse. */
const oddities: readonly Partial<Settlement>[] = [
  ...numbers.flatMap((at) => [
    { settled_at: at, counted },
    { attempted_at: at },
    { response: { status: at, latency: at, headers: null, body: null } },
  ]),
  { error_message: nul },
  { response: { status: 200, latency: 1, headers: { [nul]: lone }, body: nul + lone } },
  { request: { method: nul, url: nul, headers: null, body: lone, fromEvent: false } },
  { status: 'FAILED', disable: { url: nul } },
  { workspaceId: nul },
]

/** Every other item of the list is odd, until the odd items are used up. */
const between = <Item>(fine: (n: number) => Item, odd: readonly Item[]): Item[] =>
  [...odd, null].flatMap((one, n) => (one === null ? [fine(n)] : [fine(n), one]))

export const refusalCases: Contract<Storage> = [
  promise('whatever an entry of a batch holds, those around it are stored', async (storage) => {
    const revision = await made(storage, 'w')
    const odd = oddEntries(revision)
    const fine = (n: number) => {
      const id = `e${place(n)}`
      return entry('w', revision, event(id, { unique_id: id }), [attempt(`t${place(n)}`, id)])
    }
    const batch = between(fine, odd)
    const answers = await storage.events.ingest(batch, { enqueue: storage.queue !== undefined })
    equal(answers.length, batch.length, 'answers')
    const refused: string[] = []
    for (const [i, { event: of }] of batch.entries()) {
      if (i % 2 === 0) equal(answers[i], { kind: 'stored' }, `the entry ${of.id}`)
      else if (answers[i]!.kind !== 'stored') refused.push(of.id)
    }
    const stored = new Set((await storage.events.list('w', { ...everything, limit: 500 })).rows.map(({ id }) => id))
    equal(stored.size, batch.length - refused.length, 'events')
    for (const id of refused.filter((each) => each !== nul)) {
      ok(!stored.has(id), `the event ${id} is not there`)
      equal(await storage.attempts.load([`${id}-a`, `${id}-b`, `${id}-c`]), [], `attempts of ${id}`)
    }
    if (storage.queue === undefined) return
    const left = new Set(refused)
    const busy = { workspaces: new Map<string, number>(), groups: new Map<string, number>(), low: new Map() }
    const most = { limit: 1000, free: 4000, cap: 1000, leaseMs: 1000 }
    const claims = await storage.queue.claim({ ...most, busy, leaveOut: new Set(), now: start })
    ok(
      claims.every(({ id }) => !left.has(id.slice(0, -2))),
      'nobody is given a job of an event that was refused',
    )
    equal(claims.filter(({ id }) => id.startsWith('t')).length, odd.length + 1, 'jobs of the others')
  }),

  promise('whatever a settlement of a batch holds, those around it are written', async (storage) => {
    const events = between(
      (n) => `e${place(n)}`,
      [...oddities, {}, {}, {}].map((_, n) => `odd${place(n)}`),
    )
    const tries = events.map((id) => attempt(`t-${id}`, id))
    await filled(
      storage,
      events.map((id) => event(id)),
      tries,
    )
    const nexts = [{ scheduled_at: Number.NaN }, { created_at: Infinity }, { endpoint_id: nul }].map((more, n) => ({
      status: 'FAILED' as const,
      next: attempt(`n${n}`, `odd${place(oddities.length + n)}`, more),
    }))
    const odd = [...oddities, ...nexts]
    const batch = tries.map((of, i) =>
      i % 2 === 0
        ? settlement('w', of, { status: 'FAILED', next: attempt(`next-${of.event_id}`, of.event_id) })
        : settlement('w', of, odd[(i - 1) / 2]),
    )
    const answers = await storage.attempts.settle(batch, { enqueue: false })
    equal(answers.length, batch.length, 'answers')
    const open = new Set(ids((await storage.attempts.list('w', { ...everything, limit: 500, status: 'OPEN' })).rows))
    for (const [i, { attempt: of }] of batch.entries()) {
      const { refused, ...answer } = answers[i]!
      if (i % 2 === 0) {
        equal([answer, refused], [{ settled: true, disabled: false }, undefined], `the settlement of ${of.id}`)
        ok(open.has(`next-${of.event_id}`), `the follow-up of ${of.id}`)
      }
      equal(open.has(of.id), !answer.settled, `whether ${of.id} is open`)
      ok(refused === undefined || !answer.settled, `${of.id} is settled or refused`)
    }
    const again = batch.filter(({ attempt: of }) => open.has(of.id)).map(({ attempt: of }) => settlement('w', of))
    equal(
      await storage.attempts.settle(again, { enqueue: false }),
      again.map(() => ({ settled: true, disabled: false })),
      'those that were refused, settled otherwise',
    )
    ok((await revisionOf(storage, 'w')) > 0, 'the storage goes on')
    await storage.attempts.tallies(start)
  }),
]
