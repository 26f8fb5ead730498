import type { Storage } from '../../contracts/storage.ts'
import type { NewAttempt } from '../../contracts/storage/attempts.ts'
import type { TimeRange } from '../../contracts/storage/list.ts'
import { timePrefix } from '../../core/id.ts'
import { equal, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import {
  attempt,
  claimAll,
  endpoint,
  entry,
  event,
  everything,
  filled,
  ids,
  made,
  revisionOf,
  settlement,
  start,
} from './rows.ts'

const plain = { enqueue: false }
const idAt = (time: number): string => `${timePrefix(time)}${'0'.repeat(16)}`

export const attemptCases: Contract<Storage> = [
  promise('open attempts are loaded with their event and the revision of now', async (storage) => {
    await filled(storage, [event('e', { data: '{"n":12345678901234567890}' })], [attempt('t', 'e'), attempt('u', 'e')])
    await storage.endpoints.insert('w', endpoint('ep'))
    const found = await storage.attempts.load(['t', 'nobody'])
    equal(
      found,
      [
        {
          workspaceId: 'w',
          revision: await revisionOf(storage, 'w'),
          attempt: attempt('t', 'e'),
          event: await storage.events.get('w', 'e'),
        },
      ],
      'deliveries',
    )
    await storage.attempts.settle([settlement('w', attempt('t', 'e'))], plain)
    const left = await storage.attempts.load(['t', 'u'])
    equal(
      left.map((delivery) => delivery.attempt.id),
      ['u'],
      'without the closed one',
    )
    equal(await storage.attempts.load([]), [], 'of none')
  }),

  promise('a claim that loads answers what a load would, or leaves it to the caller', async (storage) => {
    const revision = await filled(
      storage,
      [event('e', { data: '{"n":1}' }), event('f')],
      [attempt('t', 'e'), attempt('u', 'e'), attempt('v', 'f')],
      true,
    )
    const traced = { ...entry('w', revision, event('g'), [attempt('x', 'g')]), trace: 'a trace' }
    await storage.events.ingest([traced], { enqueue: true })
    await storage.attempts.settle([settlement('w', attempt('u', 'e'))], plain) // its job stays
    const asked = ['t', 'u', 'v', 'x']
    const loaded = await storage.attempts.load(asked)
    const claims = await claimAll(storage, start, { loads: true })
    equal(ids(claims).toSorted(), asked, 'claimed')
    for (const { id, delivery } of claims) {
      if (delivery === undefined) continue
      equal(delivery, loaded.find((each) => each.attempt.id === id) ?? null, `what the claim says of ${id}`)
    }
    const other = await claimAll(storage, start + 60_000)
    equal(ids(other).toSorted(), asked, 'claimed when the holds had ended')
    equal(other.filter(({ delivery }) => delivery !== undefined).length, 0, 'loaded although nobody asked')
  }),

  promise('attempts are added to events that are there, once', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e')])
    const other = await made(storage, 'other')
    await storage.events.ingest([entry('other', other, event('foreign'))], plain)
    const manual = attempt('m', 'e', { trigger_mode: 'MANUAL' })
    const more = [manual, attempt('t', 'e'), attempt('x', 'nobody'), attempt('y', 'foreign'), manual]
    equal(await storage.attempts.add('w', more, { enqueue: true }), [true, true, false, false, true], 'answers')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['m', 't'], 'attempts')
    if (storage.queue !== undefined) equal(ids(await claimAll(storage)), ['m'], 'jobs')
    equal(await storage.attempts.add('w', [manual], { enqueue: true }), [true], 'sent again')
    equal((await storage.attempts.list('w', everything)).total, 2, 'attempts')
  }),

  promise('attempts are filtered by event, endpoint, status and times', async (storage) => {
    await filled(
      storage,
      [event('e'), event('f')],
      [
        attempt('a', 'e', { scheduled_at: 100, created_at: 10 }),
        attempt('b', 'e', { endpoint_id: 'other', scheduled_at: 200, created_at: 20 }),
        attempt('c', 'f', { scheduled_at: 300, created_at: 30 }),
      ],
    )
    await storage.attempts.settle(
      [settlement('w', attempt('a', 'e', { scheduled_at: 100 }), { attempted_at: 150 })],
      plain,
    )
    const list = async (query: object) => ids((await storage.attempts.list('w', { ...everything, ...query })).rows)
    equal(await list({ event_id: 'e' }), ['a', 'b'], 'event')
    equal(await list({ event_id: 'e', endpoint_id: 'ep' }), ['a'], 'event and endpoint')
    equal(await list({ endpoint_id: 'ep' }), ['a', 'c'], 'endpoint')
    equal(await list({ status: 'OPEN' }), ['b', 'c'], 'open')
    equal(await list({ status: 'SUCCESSFUL' }), ['a'], 'successful')
    equal(await list({ status: 'OPEN', scheduled_at: { lte: 200 } }), ['b'], 'scheduled')
    await storage.attempts.add('w', [attempt('m', 'f', { scheduled_at: 200, trigger_mode: 'MANUAL' })], plain)
    const byHand = async (range: object | null, query: object = {}) =>
      await list({ status: 'OPEN', scheduled_at: { gt: 200 }, scheduled_at_by_hand: range, ...query })
    equal(await byHand({}), ['c', 'm'], 'scheduled, or asked for by hand')
    equal(await byHand({ lt: 200 }), ['c'], 'scheduled, or asked for by hand in another range')
    equal(await byHand(null, { scheduled_at: { lte: 200 } }), ['b'], 'scheduled, and not asked for by hand')
    const counted = await storage.attempts.list('w', { ...everything, status: 'OPEN', scheduled_at_by_hand: null })
    equal(counted.total, 2, 'not asked for by hand')
    equal(await list({ attempted_at: { gte: 0 } }), ['a'], 'attempted: null lies in no range')
    equal(await list({ created_at: { gt: 10, lt: 30 } }), ['b'], 'created')
    equal(await list({ event_id: 'e', page: null, limit: 1, descending: true, after: 'b' }), ['a'], 'after')
  }),

  promise('attempts tell the type of their event, and are filtered by it and by how they ended', async (storage) => {
    await filled(
      storage,
      [event('e', { event_type: 'made', unique_id: 'u' }), event('f', { event_type: 'paid' })],
      ['a', 'b', 'c', 'd'].map((id) => attempt(id, id === 'd' ? 'f' : 'e', { endpoint_id: id })),
    )
    await storage.attempts.add('w', [attempt('t', 'f', { trigger_mode: 'TEST' })], plain)
    const request = { method: 'POST', url: 'https://x/', headers: null, body: null, fromEvent: true }
    const answered = (status: number) => ({ request, response: { status, latency: 1, headers: null, body: null } })
    const failed = { status: 'FAILED', error_message: ',"error_code":"DENIED","exhausted":true,' } as const
    await storage.attempts.settle(
      [
        settlement('w', attempt('a', 'e'), answered(204)),
        settlement('w', attempt('b', 'e'), { ...failed, ...answered(500), next: attempt('n', 'e') }),
        settlement('w', attempt('c', 'e'), { ...failed, exhausted: true, error_code: 'TIMEOUT' }),
        settlement('w', attempt('t', 'f', { trigger_mode: 'TEST' }), {
          ...failed,
          exhausted: true,
          error_code: 'UNKNOWN',
        }),
      ],
      plain,
    )
    const list = async (query: object) => {
      const { rows, total } = await storage.attempts.list('w', { ...everything, ...query })
      equal(total, rows.length, 'total')
      return ids(rows)
    }
    const { rows } = await storage.attempts.list('w', everything)
    const types = rows.map(({ id, event_type }) => `${id} ${event_type}`)
    equal(types, ['a made', 'b made', 'c made', 'd paid', 'n made', 't paid'], 'types in a list')
    equal((await storage.attempts.get('w', 'd'))?.event_type, 'paid', 'the type of one')
    equal(await list({ event_type: 'paid' }), ['d', 't'], 'by type')
    equal(await list({ event_type: 'gone' }), [], 'by a type that nobody has')
    equal(await list({ unique_id: 'u' }), ['a', 'b', 'c', 'n'], 'by unique_id')
    equal(await list({ unique_id: 'u', event_id: 'f' }), [], 'by unique_id and another event')
    equal(await list({ unique_id: 'nobody' }), [], 'by an unknown unique_id')
    equal(await list({ final: true }), ['a', 'c', 't'], 'final')
    equal(await list({ final: false }), ['b', 'd', 'n'], 'not final')
    equal(await list({ final: true, status: 'FAILED' }), ['c', 't'], 'final and failed')
    equal(await list({ trigger_mode: 'TEST' }), ['t'], 'by mode')
    equal(await list({ error_code: 'TIMEOUT' }), ['c'], 'by error')
    equal(await list({ error_code: 'DENIED' }), [], 'by an error that only a message names')
    equal(await list({ response_status: 500 }), ['b'], 'by answer')
    const undelivered = await storage.attempts.undelivered('w', { after: null, limit: 100 })
    equal(
      undelivered.map(({ attemptId }) => attemptId),
      ['c'],
      'undelivered: a test is none',
    )
  }),

  promise('a range of times finds its attempts, whatever their ids tell', async (storage) => {
    const minute = 60_000
    const of = (prefix: string, times: readonly number[]) =>
      times.map((n) => attempt(`${prefix}${idAt(start + n * minute)}`, 'e', at(n)))
    const at = (n: number) => ({ created_at: start + n * minute, scheduled_at: start + (n + (n % 3) * 10) * minute })
    const all = of(
      '',
      Array.from({ length: 90 }, (_, n) => n),
    )
    await filled(storage, [event('e')], all)
    const check = async (known: readonly NewAttempt[], what: string) => {
      for (const descending of [true, false]) {
        for (const [field, range] of [
          ['created_at', { gte: start + 20 * minute, lt: start + 40 * minute }],
          ['created_at', { eq: start + 33 * minute }],
          ['created_at', { gt: start + 85 * minute }],
          ['scheduled_at', { gte: start + 20 * minute, lte: start + 40 * minute }],
          ['scheduled_at', { lt: start + 5 * minute }],
        ] as const) {
          const { gte = -Infinity, gt = -Infinity, lt = Infinity, lte = Infinity, eq } = range as TimeRange
          const isIn = (time: number) => time >= gte && time > gt && time < lt && time <= lte && (eq ?? time) === time
          const expected = ids(known.filter((one) => isIn(one[field]))).toSorted()
          if (descending) expected.reverse()
          const found: string[] = []
          for (let after: string | null = null; ;) {
            const query = { limit: 7, page: null, after, before: null, descending, [field]: range }
            const page = await storage.attempts.list('w', query)
            found.push(...ids(page.rows))
            after = page.followed ? (found.at(-1) ?? null) : null
            if (after === null) break
          }
          equal(found, expected, `${what}: ${field} ${JSON.stringify(range)}`)
          const counted = await storage.attempts.list('w', { ...everything, limit: 5, descending, [field]: range })
          equal(ids(counted.rows), expected.slice(0, 5), `${what}: the first of ${field}`)
          equal(counted.total, expected.length, `${what}: total`)
        }
      }
    }
    await check(all, 'ids of ours')
    const astray = of('x', [3, 21, 33, 39, 88])
    await storage.attempts.add('w', astray, plain)
    await check([...all, ...astray], 'with other ids')
  }),

  promise('overdue attempts are walked in pages, by due time and id, across workspaces', async (storage) => {
    const revision = await made(storage, 'w')
    const other = await made(storage, 'other')
    const count = 2000
    // Due times come in pairs, and ids run against them.
    const all = Array.from({ length: count }, (_, i) =>
      attempt(`t${5000 - i}`, i % 2 === 0 ? 'e' : 'f', {
        endpoint_id: `g${i % 5}`,
        scheduled_at: start + Math.floor(i / 2),
      }),
    )
    await storage.events.ingest([entry('w', revision, event('e')), entry('other', other, event('f'))], plain)
    for (let from = 0; from < count; from += 500) {
      const page = all.slice(from, from + 500)
      await storage.attempts.add(
        'w',
        page.filter(({ event_id }) => event_id === 'e'),
        plain,
      )
      await storage.attempts.add(
        'other',
        page.filter(({ event_id }) => event_id === 'f'),
        plain,
      )
    }
    const closed = there(all[7], 'an attempt')
    await storage.attempts.settle([settlement('other', closed)], plain)
    const before = start + 990
    const expected = all
      .filter((one) => one.scheduled_at < before && one.id !== closed.id)
      .map(({ id, event_id, endpoint_id, scheduled_at }) => ({
        id,
        workspace: event_id === 'e' ? 'w' : 'other',
        group: endpoint_id,
        due_at: scheduled_at,
      }))
      .toSorted((a, b) => a.due_at - b.due_at || (a.id < b.id ? -1 : 1))
    const found: unknown[] = []
    for (let after: readonly [number, string] | null = null; ;) {
      const page = await storage.attempts.overdue({ before, after, limit: 500 })
      found.push(...page)
      const last = page.at(-1)
      if (last === undefined) break
      after = [last.due_at, last.id]
    }
    equal(found.length, expected.length, 'jobs')
    equal(found, expected, 'jobs')
  }),

  promise('undelivered are the newest of their event and endpoint that ended without success', async (storage) => {
    const ends = {
      a: { status: 'FAILED', exhausted: true },
      b: { status: 'CANCELED', exhausted: false },
      c: { status: 'SUCCESSFUL', exhausted: false },
      d: { status: 'FAILED', exhausted: true },
      f: { status: 'FAILED', exhausted: false },
    } as const
    const tries = [
      attempt('a', 'e1', { endpoint_id: 'x', created_at: 10 }),
      attempt('b', 'e1', { endpoint_id: 'y', created_at: 20 }),
      attempt('c', 'e2', { endpoint_id: 'x', created_at: 30 }),
      attempt('d', 'e2', { endpoint_id: 'y', created_at: 40 }),
      attempt('f', 'e3', { endpoint_id: 'x', created_at: 50 }),
      // After the failed attempts came a success, and an attempt that is still open.
      attempt('g', 'e3', { endpoint_id: 'x', created_at: 60 }),
      attempt('h', 'e4', { endpoint_id: 'x', created_at: 70 }),
      attempt('i', 'e4', { endpoint_id: 'y', created_at: 80 }),
    ]
    const events = [
      event('e1', { created_at: 20 }),
      event('e2', { event_type: 'other', created_at: 30 }),
      event('e3', { created_at: 50 }),
      event('e4', { created_at: 70 }),
    ]
    await filled(storage, events, tries)
    const find = async (query: object = {}) => {
      const found = await storage.attempts.undelivered('w', { after: null, limit: 100, ...query })
      return found.map(({ attemptId, event_id, endpoint_id }) => `${attemptId} ${event_id} ${endpoint_id}`)
    }
    equal(await find(), [], 'while all are open')
    await storage.attempts.settle(
      tries.flatMap((one) => {
        const end = ends[one.id as keyof typeof ends] // those that stay open have none
        return end === undefined ? [] : [settlement('w', one, end)]
      }),
      plain,
    )
    equal(await find(), ['a e1 x', 'b e1 y', 'd e2 y'], 'all')
    equal(await find({ status: 'CANCELED' }), ['b e1 y'], 'by status')
    equal(await find({ event_types: ['other', 'more'] }), ['d e2 y'], 'by type')
    equal(await find({ endpoint_id: 'y' }), ['b e1 y', 'd e2 y'], 'by endpoint')
    equal(await find({ created_at: { gt: 10, lt: 30 } }), ['a e1 x', 'b e1 y'], 'by the time of the event')
    const sent = [settlement('w', tries[6]!, { ...ends.a, attempted_at: start + 500 })]
    equal((await storage.attempts.settle(sent, plain))[0]?.settled, true, 'one more')
    equal(await find({ attempted_at: { gte: start + 500 } }), ['h e4 x'], 'by the time of the attempt')
    equal(await find({ after: 'd' }), ['h e4 x'], 'by the position')
    equal(await find({ after: 'a', limit: 1 }), ['b e1 y'], 'a page')
    await storage.attempts.add('w', [attempt('j', 'e1', { endpoint_id: 'x', trigger_mode: 'MANUAL' })], plain)
    equal(await find(), ['b e1 y', 'd e2 y', 'h e4 x'], 'once it is tried again')
    equal(await storage.attempts.undelivered('other', { after: null, limit: 10 }), [], 'of another workspace')
  }),
]
