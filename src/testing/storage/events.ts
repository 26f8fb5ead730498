import type { IngestAnswer, IngestEntry } from '../../contracts/storage/events.ts'
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

const stored = { kind: 'stored' }
const kinds = (answers: readonly IngestAnswer[]) => answers.map(({ kind }) => kind)

const maxRounds = 50

/** As callers do, asks again for entries that another batch holds while that batch is written. */
async function ingestAll(
  storage: Storage,
  entries: readonly IngestEntry[],
  rounds = maxRounds,
): Promise<readonly IngestAnswer[]> {
  const answers = await storage.events.ingest(entries, { enqueue: false })
  const held = entries.filter((_, i) => answers[i]!.kind === 'held')
  if (held.length === 0 || rounds === 1) return answers
  const later = (await ingestAll(storage, held, rounds - 1)).values()
  return answers.map((answer) => (answer.kind === 'held' ? later.next().value! : answer))
}

export const eventCases: Contract<Storage> = [
  promise('an event comes back byte for byte, with its attempts open', async (storage) => {
    const odd = event('e', {
      event_type: 'größe.🎉',
      data: '{"n":12345678901234567890, "n":1.0,\n\t"é":"\\u0000\\ud800 日本 🎉"}',
      unique_id: 'ü-🎉',
      ingested_at: start - 5,
    })
    const first = attempt('t', 'e', { scheduled_at: start + 60_000 })
    await filled(storage, [odd], [first])
    equal(await storage.events.get('w', 'e'), odd, 'event')
    equal(await storage.events.get('w', 'nobody'), null, 'an unknown one')
    equal(
      await storage.attempts.get('w', 't'),
      {
        ...first,
        status: 'OPEN',
        attempted_at: null,
        exhausted: false,
        error_code: null,
        error_message: null,
        request: null,
        response: null,
        updated_at: start,
        event_type: 'größe.🎉',
      },
      'attempt',
    )
  }),

  promise('an erased event is gone with its attempts and jobs, and its unique_id is free', async (storage) => {
    const revision = await filled(
      storage,
      [event('e', { unique_id: 'u' }), event('f')],
      [attempt('t', 'e'), attempt('o', 'e'), attempt('k', 'f')],
      true,
    )
    await made(storage, 'other')
    await storage.attempts.settle([settlement('w', attempt('t', 'e'))], { enqueue: false })
    equal(await storage.events.erase('other', ['e']), 0, 'of another workspace')
    equal(await storage.events.erase('w', ['e', 'e', 'nobody']), 1, 'erased')
    equal(await storage.events.get('w', 'e'), null, 'the event')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['k'], 'attempts')
    equal(
      await storage.attempts.settle([settlement('w', attempt('o', 'e'))], { enqueue: false }),
      [{ settled: false, disabled: false }],
      'settled late',
    )
    if (storage.queue !== undefined)
      equal(
        ids(await claimAll(storage)).filter((id) => id === 'o'),
        [],
        'jobs',
      )
    const published = [entry('w', revision, event('e', { unique_id: 'u' }))]
    const again = await storage.events.ingest(published, { enqueue: false })
    equal(again, [{ kind: 'stored' }], 'published again')
    equal(await storage.events.erase('w', []), 0, 'none')
  }),

  promise('an event for hundreds of endpoints is stored whole, settled, and erased', async (storage) => {
    const revision = await made(storage, 'w')
    const wide = Array.from({ length: 430 }, (_, n) => attempt(`t${n}`, 'e', { endpoint_id: `ep${n}` }))
    const entries = [
      entry('w', revision, event('d'), [attempt('d0', 'd')]),
      entry('w', revision, event('e', { unique_id: 'u' }), wide),
      entry('w', revision, event('f', { unique_id: 'u' }), [attempt('f0', 'f')]),
    ]
    equal(kinds(await storage.events.ingest(entries, { enqueue: true })), ['stored', 'stored', 'duplicate'], 'ingested')
    const taken = [attempt('t7', 'g'), ...Array.from({ length: 300 }, (_, n) => attempt(`g${n}`, 'g'))]
    const refused = await storage.events.ingest([entry('w', revision, event('g'), taken)], { enqueue: true })
    equal(kinds(refused), ['rejected'], 'with the id of another attempt')
    const again = await storage.events.ingest(entries.slice(1, 2), { enqueue: true })
    equal(again, [{ kind: 'stored' }], 'the same call again')
    equal(await storage.events.get('w', 'g'), null, 'of what was rejected, nothing')
    const listed = async (event_id: string) =>
      (await storage.attempts.list('w', { ...everything, event_id, limit: 1000 })).rows.map(({ id }) => id)
    equal(await listed('e'), ids(wide).toSorted(), 'attempts')
    if (storage.queue !== undefined) {
      const claimed: string[] = []
      for (let some = await claimAll(storage); some.length > 0; some = await claimAll(storage))
        claimed.push(...ids(some))
      equal(claimed.toSorted(), ['d0', ...ids(wide)].toSorted(), 'jobs')
    }
    const [first, ...others] = wide
    await storage.attempts.settle([settlement('w', there(first, 'one'))], { enqueue: false })
    equal(
      await storage.purge({ eventsBefore: start + 1, attemptsBefore: null, limit: 1000 }),
      0,
      'not purged while open',
    )
    await storage.attempts.settle(
      others.map((each) => settlement('w', each)),
      { enqueue: false },
    )
    equal(await storage.events.erase('w', ['d', 'e', 'f']), 2, 'erased')
    equal(await listed('e'), [], 'no attempts')
  }),

  promise('every JSON value is kept as its text, null too', async (storage) => {
    const texts = ['null', '"text"', '0', '-1.50e+10', 'false', '[]', '{}', '[1, 2]', ' {"a" : 1} ']
    const events = texts.map((data, i) => event(`e${i}`, { data }))
    await filled(storage, events)
    const { rows } = await storage.events.list('w', everything)
    equal(rows, events, 'events')
  }),

  promise('an event of a megabyte comes back whole', async (storage) => {
    const data = JSON.stringify({ text: 'é'.repeat(500_000) })
    await filled(storage, [event('big', { data })])
    ok((await storage.events.get('w', 'big'))?.data === data, 'data')
  }),

  promise('jobs are added in the same step where it is asked for, and only there', async (storage) => {
    if (storage.queue === undefined) return
    await filled(storage, [event('e')], [attempt('t', 'e', { endpoint_id: 'g', scheduled_at: start - 1 })], true)
    const [claim, more] = await claimAll(storage)
    equal([claim?.id, claim?.group, claim?.due_at, more], ['t', 'g', start - 1, undefined], 'the job')
    const revision = await revisionOf(storage, 'w')
    await storage.events.ingest([entry('w', revision, event('f'), [attempt('u', 'f')])], { enqueue: false })
    equal((await storage.queue.stats(start)).size, 1, 'jobs')
  }),

  promise('of calls with one id one is stored, told by its token from others that are alike', async (storage) => {
    const revision = await made(storage, 'w')
    const call = (token: string) => ({ ...entry('w', revision, event('e'), [attempt(`t-${token}`, 'e')]), token })
    const ingest = async (...entries: readonly ReturnType<typeof call>[]) => kinds(await ingestAll(storage, entries))
    equal(await ingest(call('one'), call('two'), call('one')), ['stored', 'id_taken', 'stored'], 'side by side')
    equal(await ingest(call('one')), ['stored'], 'sent again after a lost answer')
    equal(await ingest(call('three'), call('two')), ['id_taken', 'id_taken'], 'later')
    const parallel = await Promise.all(
      ['a', 'b', 'c', 'd'].map((token) => ingest({ ...call(token), event: event('f') })),
    )
    equal(parallel.flat().toSorted(), ['id_taken', 'id_taken', 'id_taken', 'stored'], 'at once')
    equal((await storage.attempts.list('w', { ...everything, event_id: 'e' })).rows.length, 1, 'attempts')
  }),

  promise('a batch sent again after a lost answer is stored once, and answered alike', async (storage) => {
    const revision = await made(storage, 'w')
    const batch = [
      entry('w', revision, event('a', { unique_id: 'u' }), [attempt('ta', 'a')]),
      entry('w', revision, event('b'), [attempt('tb', 'b')]),
    ]
    equal(await storage.events.ingest(batch, { enqueue: true }), [stored, stored], 'first')
    await storage.endpoints.insert('w', endpoint('ep'))
    equal(await storage.events.ingest(batch, { enqueue: true }), [stored, stored], 'again, at a newer revision too')
    const plain = [entry('w', await revisionOf(storage, 'w'), event('c'), [attempt('tc', 'c')])]
    const parallel = await Promise.all(Array.from({ length: 8 }, () => ingestAll(storage, plain)))
    equal(kinds(parallel.flat()), Array(8).fill('stored'), 'while the first is under way')
    equal(ids((await storage.events.list('w', everything)).rows), ['a', 'b', 'c'], 'events')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['ta', 'tb', 'tc'], 'attempts')
  }),

  promise('a unique_id seen before answers the stored event, and stores nothing', async (storage) => {
    const revision = await made(storage, 'w')
    const other = await made(storage, 'other')
    const first = event('a', { unique_id: 'u', data: '"first"' })
    await storage.events.ingest([entry('w', revision, first, [attempt('ta', 'a')])], { enqueue: false })
    const second = event('b', { unique_id: 'u', data: '"second"', ingested_at: start + 1, created_at: start + 1 })
    const answers = await storage.events.ingest([entry('w', revision, second, [attempt('tb', 'b')])], { enqueue: true })
    equal(answers, [{ kind: 'duplicate', event: first }], 'answer')
    equal(await storage.events.get('w', 'b'), null, 'the second event')
    equal(await storage.attempts.load(['tb']), [], 'the second attempt')
    const same = event('a', { unique_id: 'u', data: '"other"', ingested_at: start + 1 })
    const taken = await storage.events.ingest([entry('w', revision, same)], { enqueue: false })
    equal(taken, [{ kind: 'duplicate', event: first }], 'with the stored event’s id')
    const elsewhere = await storage.events.ingest([entry('other', other, event('c', { unique_id: 'u' }))], {
      enqueue: false,
    })
    equal(elsewhere, [stored], 'in another workspace')
  }),

  promise('a unique_id twice in one batch is stored once: the first', async (storage) => {
    const revision = await made(storage, 'w')
    const first = event('a', { unique_id: 'u' })
    const batch = [
      first,
      event('b', { unique_id: 'u' }),
      event('c', { unique_id: 'v' }),
      event('d', { unique_id: 'u' }),
    ]
    const answers = await storage.events.ingest(
      batch.map((one) => entry('w', revision, one, [attempt(`t${one.id}`, one.id)])),
      { enqueue: false },
    )
    const duplicate = { kind: 'duplicate', event: first }
    equal(answers, [stored, duplicate, stored, duplicate], 'answers')
    equal(ids((await storage.events.list('w', everything)).rows), ['a', 'c'], 'events')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['ta', 'tc'], 'attempts')
  }),

  promise('the same unique_ids in two batches at once, in opposite order, are stored once each', async (storage) => {
    const revision = await made(storage, 'w')
    const batch = (name: string) =>
      Array.from({ length: 20 }, (_, i) => entry('w', revision, event(`${name}${10 + i}`, { unique_id: `u${i}` })))
    const [left, right] = await Promise.all([
      ingestAll(storage, batch('l')),
      ingestAll(storage, batch('r').toReversed()),
    ])
    const there = await storage.events.list('w', everything)
    equal(there.total, 20, 'events')
    equal([...left, ...right].filter(({ kind }) => kind === 'stored').length, 20, 'stored')
    for (const answer of [...left, ...right]) {
      if (answer.kind === 'stored') continue
      ok(answer.kind === 'duplicate' && ids(there.rows).includes(answer.event.id), 'a duplicate names the stored event')
    }
  }),

  promise('an id that another event has is taken, in any workspace and within a batch', async (storage) => {
    const revision = await made(storage, 'w')
    const other = await made(storage, 'other')
    await storage.events.ingest([entry('w', revision, event('a'))], { enqueue: false })
    const again = event('a', { data: '"other"', ingested_at: start + 1, created_at: start + 1 })
    const ingest = async (...entries: ReturnType<typeof entry>[]) =>
      kinds(await storage.events.ingest(entries, { enqueue: false }))
    equal(await ingest(entry('w', revision, again)), ['id_taken'], 'in the workspace')
    equal(await ingest(entry('other', other, again)), ['id_taken'], 'in another one')
    const pair = [entry('w', revision, event('b')), entry('w', revision, event('b', { data: '"other"' }))]
    equal(await ingest(...pair), ['stored', 'id_taken'], 'within a batch')
    equal((await storage.events.get('w', 'a'))?.data, '{"n":1}', 'the stored one is untouched')
  }),

  promise('an entry matched under an older configuration is stale, and stores nothing', async (storage) => {
    const revision = await made(storage, 'w')
    const first = event('a', { unique_id: 'u' })
    await storage.events.ingest([entry('w', revision, first)], { enqueue: false })
    await storage.endpoints.insert('w', endpoint('ep'))
    const answers = await storage.events.ingest(
      [
        entry('w', revision, event('b', { unique_id: 'v' }), [attempt('t', 'b')]),
        entry('w', revision, event('c', { unique_id: 'u' })),
        entry('w', revision, event('a', { data: '"other"', created_at: start + 1 })),
        entry('nowhere', revision, event('d')),
        entry('w', await revisionOf(storage, 'w'), event('e')),
      ],
      { enqueue: false },
    )
    equal(kinds(answers), ['stale', 'duplicate', 'id_taken', 'stale', 'stored'], 'answers')
    equal(await storage.events.get('w', 'b'), null, 'the stale event')
    equal(await storage.attempts.load(['t']), [], 'its attempt')
    const late = entry('w', await revisionOf(storage, 'w'), event('b', { unique_id: 'v' }), [attempt('t', 'b')])
    equal(await storage.events.ingest([late], { enqueue: false }), [stored], 'matched again')
  }),

  promise('one entry that the engine cannot store never fails the 199 around it', async (storage) => {
    const revision = await made(storage, 'w')
    const batch = Array.from({ length: 200 }, (_, i) => {
      const id = `e${100 + i}`
      return entry('w', revision, event(id, i === 77 ? { data: '"\0"' } : {}), [attempt(`t${id}`, id)])
    })
    const answers = await storage.events.ingest(batch, { enqueue: false })
    equal(answers.length, 200, 'answers')
    for (const [i, answer] of answers.entries()) {
      if (i === 77) ok(answer.kind === 'rejected' || answer.kind === 'stored', `the odd one is ${answer.kind}`)
      else equal(answer, stored, `entry ${i}`)
    }
    const { total } = await storage.events.list('w', { ...everything, limit: 1 })
    equal(total, answers.filter(({ kind }) => kind === 'stored').length, 'events')
  }),

  promise('an empty batch and an event without attempts are fine', async (storage) => {
    equal(await storage.events.ingest([], { enqueue: true }), [], 'no entries')
    await filled(storage, [event('e')], [], true)
    equal((await storage.attempts.list('w', everything)).rows, [], 'attempts')
  }),

  promise('events are filtered by type, unique_id and times, within their workspace', async (storage) => {
    await filled(storage, [
      event('a', { event_type: 'x', unique_id: 'u', created_at: 100, ingested_at: 90 }),
      event('b', { event_type: 'y', unique_id: 'v', created_at: 200, ingested_at: 190 }),
      event('c', { event_type: 'x', created_at: 300, ingested_at: 290 }),
    ])
    const other = await made(storage, 'other')
    await storage.events.ingest([entry('other', other, event('d', { event_type: 'x', unique_id: 'u' }))], {
      enqueue: false,
    })
    const list = async (query: object) => ids((await storage.events.list('w', { ...everything, ...query })).rows)
    equal(await list({ event_type: 'x' }), ['a', 'c'], 'type')
    equal(await list({ unique_id: 'u' }), ['a'], 'unique_id')
    equal(await list({ unique_id: 'u', event_type: 'y' }), [], 'both')
    equal(await list({ created_at: { gte: 200 } }), ['b', 'c'], 'created')
    equal(await list({ ingested_at: { gt: 90, lt: 290 } }), ['b'], 'ingested')
    equal(await list({ event_type: 'x', descending: true }), ['c', 'a'], 'descending')
    equal(await list({ event_type: 'x', page: null, limit: 1, after: 'a' }), ['c'], 'after')
  }),

  promise('a page of events ends with the row that reaches maxBytes', async (storage) => {
    const data = JSON.stringify('é'.repeat(49)) // 100 bytes
    await filled(
      storage,
      ['a', 'b', 'c', 'd', 'e'].map((id) => event(id, { data })),
    )
    const list = async (query: object) => {
      const page = await storage.events.list('w', { ...everything, page: null, ...query })
      return [ids(page.rows).join(''), page.preceded, page.followed]
    }
    equal(await list({ maxBytes: 1 }), ['a', false, true], 'at least one row')
    equal(await list({ maxBytes: 200 }), ['ab', false, true], 'reached exactly')
    equal(await list({ maxBytes: 201 }), ['abc', false, true], 'reached by the next')
    equal(await list({ maxBytes: 200, after: 'c' }), ['de', true, false], 'at the end')
    equal(await list({ maxBytes: 200, descending: true }), ['ed', false, true], 'descending')
    equal(await list({ maxBytes: 200, before: 'e' }), ['cd', true, true], 'before: the nearest')
    equal(await list({ maxBytes: 200, limit: 1 }), ['a', false, true], 'the limit comes first')
  }),

  promise('what is handed out is a copy', async (storage) => {
    const row = event('e')
    await filled(storage, [row])
    Object.assign(row, { data: '0' })
    Object.assign(there(await storage.events.get('w', 'e'), 'e'), { data: '0' })
    equal((await storage.events.get('w', 'e'))?.data, '{"n":1}', 'data')
  }),
]
