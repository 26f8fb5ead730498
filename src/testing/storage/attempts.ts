import type { Storage } from '../../contracts/storage.ts'
import { equal, ok, there } from '../assert.ts'
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
const settled = { settled: true, disabled: false }
const late = { settled: false, disabled: false }

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

  promise('an ending is written with its details', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e'), attempt('u', 'e')])
    const request = {
      method: 'POST',
      url: 'https://example.com/ü',
      headers: { 'x-a': 'b', constructor: 'c' },
      body: null,
      fromEvent: true,
    }
    const response = { status: 500, latency: 12, headers: { 'content-type': 'text/plain' }, body: 'naïve 🎉' }
    const failed = settlement('w', attempt('t', 'e'), {
      status: 'FAILED',
      exhausted: true,
      error_code: 'UNKNOWN',
      error_message: 'it broke',
      request,
      response,
    })
    const changed = settlement('w', attempt('u', 'e'), { request: { ...request, body: '"other"', fromEvent: false } })
    equal(await storage.attempts.settle([failed, changed], plain), [settled, settled], 'settle')
    const { status, exhausted, attempted_at, error_code, error_message } = failed
    const details = { status, exhausted, attempted_at, error_code, error_message, updated_at: start + 20 }
    equal(await storage.attempts.get('w', 't'), { ...attempt('t', 'e'), ...details, request, response }, 'get')
    equal((await storage.attempts.get('w', 'u'))?.request, changed.request, 'a body that a plugin changed')
    const { rows } = await storage.attempts.list('w', everything)
    equal(
      rows[0],
      {
        ...attempt('t', 'e'),
        ...details,
        request: { ...request, headers: null, body: null },
        response: { ...response, headers: null, body: null },
      },
      'lists leave headers and bodies out',
    )
  }),

  promise('null and missing parts of an ending stay apart', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e'), attempt('u', 'e')])
    const response = { status: 204, latency: 0, headers: {}, body: '' }
    const canceled = { status: 'CANCELED', attempted_at: null, error_code: 'ENDPOINT_DISABLED' } as const
    await storage.attempts.settle([settlement('w', attempt('t', 'e'), { response })], plain)
    await storage.attempts.settle([settlement('w', attempt('u', 'e'), canceled)], plain)
    const t = there(await storage.attempts.get('w', 't'), 't')
    equal([t.request, t.response], [null, response], 'no request, an empty response')
    const u = there(await storage.attempts.get('w', 'u'), 'u')
    equal([u.status, u.attempted_at, u.response, u.exhausted], ['CANCELED', null, null, false], 'a canceled one')
  }),

  promise('captures with U+0000 or lone surrogates never fail a settlement', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e'), attempt('u', 'e')])
    const odd = '\0 \ud800 \udc00 é'
    const response = { status: 200, latency: 1, headers: { 'x-odd': odd }, body: odd }
    const request = {
      method: 'POST',
      url: 'https://example.com',
      headers: { 'x-odd': odd },
      body: odd,
      fromEvent: false,
    }
    const dirty = settlement('w', attempt('t', 'e'), { response, request, error_message: odd })
    equal(
      await storage.attempts.settle([dirty, settlement('w', attempt('u', 'e'))], plain),
      [settled, settled],
      'settle',
    )
    ok(there(await storage.attempts.get('w', 't'), 't').response?.body?.endsWith(' é') === true, 'the rest of the body')
  }),

  promise('an attempt is settled once, whoever comes at the same moment', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e')])
    const next = (id: string) => attempt(id, 'e', { attempt_number: 2, trigger_mode: 'AUTOMATIC' })
    const answers = await Promise.all(
      ['x', 'y', 'z'].map((id) =>
        storage.attempts.settle(
          [settlement('w', attempt('t', 'e'), { status: 'FAILED', error_message: id, next: next(id) })],
          plain,
        ),
      ),
    )
    equal(answers.flat().filter((answer) => answer.settled).length, 1, 'settled')
    const { rows } = await storage.attempts.list('w', everything)
    const winner = rows.find(({ id }) => id === 't')?.error_message
    equal(ids(rows), ['t', winner], 'one follow-up, that of the one that settled')
  }),

  promise('a settlement that is sent again after a lost answer is answered as the first time', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e'), attempt('u', 'e'), attempt('v', 'e'), attempt('x', 'e')])
    await storage.endpoints.insert('w', endpoint('ep'))
    const next = attempt('n', 'e', { attempt_number: 2, trigger_mode: 'AUTOMATIC' })
    const batch = [
      settlement('w', attempt('t', 'e'), { status: 'FAILED', next }),
      settlement('w', attempt('u', 'e')),
      settlement('w', attempt('v', 'e'), { status: 'CANCELED', attempted_at: null }),
      settlement('w', attempt('x', 'e'), {
        status: 'FAILED',
        exhausted: true,
        disable: { url: 'https://example.com/hook' },
      }),
    ]
    const first = await storage.attempts.settle(batch, plain)
    equal(first, [settled, settled, settled, { settled: true, disabled: true }], 'the first time')
    const revision = await revisionOf(storage, 'w')
    equal(await storage.attempts.settle(batch, plain), first, 'sent again')
    equal(await storage.attempts.settle(batch.toReversed(), plain), first.toReversed(), 'and once more')
    equal(await revisionOf(storage, 'w'), revision, 'nothing is written again')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['n', 't', 'u', 'v', 'x'], 'attempts')
    const others = [
      settlement('w', attempt('t', 'e'), { status: 'FAILED', next: { ...next, id: 'o' } }),
      settlement('w', attempt('u', 'e'), { status: 'FAILED' }),
      settlement('w', attempt('u', 'e'), { settled_at: start + 40 }),
      settlement('w', attempt('v', 'e'), { status: 'CANCELED', attempted_at: start + 10 }),
      settlement('other', attempt('x', 'e'), { status: 'FAILED', exhausted: true }),
    ]
    for (const other of others) equal(await storage.attempts.settle([other], plain), [late], 'another settlement')
  }),

  promise('one attempt twice in a batch is settled by the first', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e')])
    const batch = ['one', 'two'].map((error_message) => settlement('w', attempt('t', 'e'), { error_message }))
    equal(await storage.attempts.settle(batch, plain), [settled, late], 'answers')
    equal((await storage.attempts.get('w', 't'))?.error_message, 'one', 'the first')
    const unknown = settlement('w', attempt('nobody', 'e'))
    const foreign = settlement('other', attempt('t', 'e'))
    equal(await storage.attempts.settle([unknown, foreign], plain), [late, late], 'unknown ones')
    equal(await storage.attempts.settle([], plain), [], 'none')
  }),

  promise('outcome, follow-up and jobs are one step', async (storage) => {
    if (storage.queue === undefined) return
    await filled(storage, [event('e')], [attempt('t', 'e')], true)
    const [claim] = await claimAll(storage)
    const next = attempt('u', 'e', { attempt_number: 2, scheduled_at: start + 60_000, trigger_mode: 'AUTOMATIC' })
    const failed = settlement('w', attempt('t', 'e'), { status: 'FAILED', next, claim: there(claim, 'claim') })
    equal(await storage.attempts.settle([failed], { enqueue: true }), [settled], 'settle')
    equal(
      await storage.queue.stats(start + 60_000),
      { size: 1, oldestDueAt: start + 60_000 },
      'the follow-up’s job alone',
    )
    const follow = there(await storage.attempts.get('w', 'u'), 'the follow-up')
    equal([follow.status, follow.attempt_number, follow.trigger_mode], ['OPEN', 2, 'AUTOMATIC'], 'the follow-up')
    // A stale job of a closed attempt: nothing is written but the completion.
    await storage.queue.add([{ id: 't', workspace: 'w', group: 'ep', due_at: start }])
    const [stale] = await claimAll(storage)
    const again = settlement('w', attempt('t', 'e'), { claim: there(stale, 'stale claim') })
    equal(await storage.attempts.settle([again], { enqueue: true }), [late], 'settle again')
    equal((await storage.queue.stats(start)).size, 1, 'jobs')
  }),

  promise('with another queue, settling touches no job', async (storage) => {
    if (storage.queue === undefined) return
    await filled(storage, [event('e')], [attempt('t', 'e')], true)
    const claim = there((await claimAll(storage))[0], 'claim')
    const next = attempt('u', 'e')
    await storage.attempts.settle([settlement('w', attempt('t', 'e'), { claim, next })], plain)
    equal((await storage.queue.stats(start)).size, 1, 'jobs')
  }),

  promise('an endpoint is disabled by the url that was judged, and by no other', async (storage) => {
    await filled(storage, [event('e')], [attempt('t', 'e'), attempt('u', 'e'), attempt('v', 'e')])
    await storage.endpoints.insert('w', endpoint('ep'))
    const revision = await revisionOf(storage, 'w')
    const gone = (id: string, url: string) =>
      settlement('w', attempt(id, 'e'), { status: 'FAILED', exhausted: true, disable: { url } })
    equal(await storage.attempts.settle([gone('t', 'https://example.com/old')], plain), [settled], 'another url')
    equal((await storage.endpoints.get('w', 'ep'))?.row.enabled, true, 'still enabled')
    const disabled = { settled: true, disabled: true }
    equal(await storage.attempts.settle([gone('u', 'https://example.com/hook')], plain), [disabled], 'its url')
    const { row } = there(await storage.endpoints.get('w', 'ep'), 'ep')
    equal([row.enabled, row.updated_at], [false, start + 20], 'disabled')
    ok((await revisionOf(storage, 'w')) > revision, 'the revision is raised')
    equal(await storage.attempts.settle([gone('v', 'https://example.com/hook')], plain), [settled], 'disabled already')
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

  promise('outcomes are tallied by endpoint and minute, where it is asked for', async (storage) => {
    const minute = 60_000
    const tries = ['a', 'b', 'c', 'd', 'f'].map((id) => attempt(id, 'e', { endpoint_id: id === 'd' ? 'y' : 'x' }))
    await filled(storage, [event('e')], tries)
    const outcomes = [
      { status: 'FAILED', settled_at: start + 1, tally: true },
      { status: 'SUCCESSFUL', settled_at: start + minute + 1, tally: true },
      { status: 'FAILED', settled_at: start + minute + 2, tally: true },
      { status: 'FAILED', settled_at: start + minute + 3, tally: true },
      { status: 'FAILED', settled_at: start + minute + 4, tally: false },
    ] as const
    const batch = tries.map((one, i) => settlement('w', one, outcomes[i]))
    await storage.attempts.settle(batch, plain)
    equal(await storage.attempts.settle(batch.slice(0, 1), plain), [settled], 'settled again')
    const tallies = async (since: number) =>
      [...(await storage.attempts.tallies(since))].toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1))
    const y = { workspaceId: 'w', endpointId: 'y', total: 1, failed: 1 }
    equal(await tallies(start), [{ workspaceId: 'w', endpointId: 'x', total: 3, failed: 2 }, y], 'of two minutes')
    const x = { workspaceId: 'w', endpointId: 'x', total: 2, failed: 1 }
    equal(await tallies(start + minute), [x, y], 'of the last minute')
    equal(await tallies(start + 2 * minute), [], 'of none')
  }),
]
