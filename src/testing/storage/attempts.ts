import type { Storage } from '../../contracts/storage.ts'
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
      // After the failed ones came: a success, and one that is still open.
      attempt('g', 'e3', { endpoint_id: 'x', created_at: 60 }),
      attempt('h', 'e4', { endpoint_id: 'x', created_at: 70 }),
      attempt('i', 'e4', { endpoint_id: 'y', created_at: 80 }),
    ]
    await filled(storage, [event('e1'), event('e2', { event_type: 'other' }), event('e3'), event('e4')], tries)
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
    equal(await find({ created_at: { gt: 10, lt: 40 } }), ['b e1 y'], 'by time')
    equal(await find({ after: 'a', limit: 1 }), ['b e1 y'], 'a page')
    await storage.attempts.add('w', [attempt('j', 'e1', { endpoint_id: 'x', trigger_mode: 'MANUAL' })], plain)
    equal(await find(), ['b e1 y', 'd e2 y'], 'once it is tried again')
    equal(await storage.attempts.undelivered('other', { after: null, limit: 10 }), [], 'of another workspace')
  }),
]
