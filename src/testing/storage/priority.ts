import type { PlannedAttempt } from '../../contracts/storage/attempts.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal, there } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, claimAll, entry, event, filled, ids, settlement, start } from './rows.ts'

const low = (...of: Parameters<typeof attempt>): PlannedAttempt => ({ ...attempt(...of), priority: 'low' })
const seen = async (storage: Storage, now = start + 1000) =>
  (await claimAll(storage, now)).map(({ id, due_at, priority }) => ({ id, due_at, priority }))

/** How the priority of an attempt reaches its job, and nothing else. */
export const priorityCases: Contract<Storage> = [
  promise('attempts of low priority are added with jobs that stand behind others', async (storage) => {
    if (storage.queue === undefined) return
    await filled(storage, [event('e')])
    const attempts = [low('a', 'e'), { ...attempt('b', 'e'), scheduled_at: start + 500 }, low('c', 'e')]
    equal(await storage.attempts.add('w', attempts, { enqueue: true }), [true, true, true], 'added')
    const due = { due_at: start, priority: 'low' }
    const jobs = [
      { id: 'b', due_at: start + 500, priority: undefined },
      { id: 'a', ...due },
      { id: 'c', ...due },
    ]
    equal(await seen(storage), jobs, 'jobs')
    const stored = there(await storage.attempts.get('w', 'a'), 'the attempt')
    equal([stored.scheduled_at, 'priority' in stored], [start, false], 'as it is stored')
  }),

  promise('attempts of low priority that come with their event have such jobs', async (storage) => {
    if (storage.queue === undefined) return
    const revision = await filled(storage, [event('e')])
    const entries = [
      entry('w', revision, event('f'), [low('a', 'f'), attempt('b', 'f', { endpoint_id: 'other' })]),
      entry('w', revision, event('g'), [{ ...attempt('c', 'g'), scheduled_at: start + 1 }]),
    ]
    equal(
      (await storage.events.ingest(entries, { enqueue: true })).map(({ kind }) => kind),
      ['stored', 'stored'],
      'stored',
    )
    const jobs = await seen(storage)
    equal(
      jobs.map(({ id, priority }) => `${id} ${priority}`).toSorted(),
      ['a low', 'b undefined', 'c undefined'],
      'jobs',
    )
    equal(ids(jobs).indexOf('c') < ids(jobs).indexOf('a'), true, 'the order in their endpoint')
  }),

  promise('a follow-up of low priority has such a job', async (storage) => {
    if (storage.queue === undefined) return
    const first = attempt('a', 'e')
    await filled(storage, [event('e')], [first], true)
    const [claim] = await claimAll(storage)
    const next = { ...low('b', 'e', { attempt_number: 2 }), scheduled_at: start + 100 }
    const failed = settlement('w', first, { status: 'FAILED', next, claim: there(claim, 'a claim') })
    equal(await storage.attempts.settle([failed], { enqueue: true }), [{ settled: true, disabled: false }], 'settled')
    equal(await seen(storage), [{ id: 'b', due_at: start + 100, priority: 'low' }], 'its job')
  }),
]
