import type { Storage } from '../../contracts/storage.ts'
import { equal, ok, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import {
  attempt,
  counted,
  claimAll,
  endpoint,
  event,
  everything,
  filled,
  ids,
  revisionOf,
  settlement,
  start,
} from './rows.ts'

const plain = { enqueue: false }
const settled = { settled: true, disabled: false }
const late = { settled: false, disabled: false }

export const settlementCases: Contract<Storage> = [
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
    const details = {
      status,
      exhausted,
      attempted_at,
      error_code,
      error_message,
      updated_at: start + 20,
      event_type: 'order.paid',
    }
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
    equal([row.disabled_at, row.disabled_reason], [start + 20, 'gone'], 'why')
    ok((await revisionOf(storage, 'w')) > revision, 'the revision is raised')
    equal(await storage.attempts.settle([gone('v', 'https://example.com/hook')], plain), [settled], 'disabled already')
  }),

  promise('outcomes are tallied by endpoint and minute, where it is asked for', async (storage) => {
    const minute = 60_000
    const tries = ['a', 'b', 'c', 'd', 'f'].map((id) => attempt(id, 'e', { endpoint_id: id === 'd' ? 'y' : 'x' }))
    await filled(storage, [event('e')], tries)
    const outcomes = [
      { status: 'FAILED', settled_at: start + 1, counted },
      { status: 'SUCCESSFUL', settled_at: start + minute + 1, counted },
      { status: 'FAILED', settled_at: start + minute + 2, counted },
      { status: 'FAILED', settled_at: start + minute + 3, counted },
      { status: 'FAILED', settled_at: start + minute + 4, counted: null },
    ] as const
    const batch = tries.map((one, i) => settlement('w', one, outcomes[i]))
    await storage.attempts.settle(batch, plain)
    equal(await storage.attempts.settle(batch.slice(0, 1), plain), [settled], 'settled again')
    while ((await storage.statistics.fold()) > 0);
    const tallies = async (since: number) =>
      [...(await storage.attempts.tallies(since))].toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1))
    const y = { workspaceId: 'w', endpointId: 'y', total: 1, failed: 1 }
    equal(await tallies(start), [{ workspaceId: 'w', endpointId: 'x', total: 3, failed: 2 }, y], 'of two minutes')
    const x = { workspaceId: 'w', endpointId: 'x', total: 2, failed: 1 }
    equal(await tallies(start + minute), [x, y], 'of the last minute')
    equal(await tallies(start + 2 * minute), [], 'of none')
  }),
]
