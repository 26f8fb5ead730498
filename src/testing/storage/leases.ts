import type { PlannedAttempt } from '../../contracts/storage/attempts.ts'
import type { IngestAnswer } from '../../contracts/storage/events.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, claimAll, entry, event, filled, ids, settlement, start } from './rows.ts'

const until = start + 30_000
const leased = (id: string, of: string, more: Partial<PlannedAttempt> = {}): PlannedAttempt => ({
  ...attempt(id, of),
  ...more,
  lease: { token: `low held 1 ${id}`.replaceAll(' ', '-') + '/w', from: start, until },
})

const heldIn = (answer: IngestAnswer) => (answer.kind === 'stored' ? answer.held : null)

/** Attempts whose publisher delivers them at once: their jobs are held from the start. */
export const leaseCases: Contract<Storage> = [
  promise('attempts that come with a lease have jobs that nobody claims until it ends', async (storage) => {
    if (storage.queue?.takesLeases !== true) return
    const revision = await filled(storage, [event('e')])
    const last: PlannedAttempt = { ...attempt('d', 'g', { endpoint_id: 'other' }), priority: 'low' }
    const entries = [
      entry('w', revision, event('f'), [leased('a', 'f'), attempt('b', 'f', { endpoint_id: 'other' })]),
      entry('w', revision, event('g'), [leased('c', 'g'), last]),
    ]
    for (const again of [false, true]) {
      const answers = await storage.events.ingest(entries, { enqueue: true })
      const stored = answers.map(({ kind }) => kind)
      equal(stored, ['stored', 'stored'], again ? 'sent again' : 'stored')
      if (!again) equal(answers.map(heldIn), [['a'], ['c']], 'held')
    }
    equal(ids(await claimAll(storage)).toSorted(), ['b', 'd'], 'jobs that wait')
    equal((await storage.queue.stats(start)).size, 4, 'all jobs')
    equal((await storage.attempts.load(['a', 'c'])).length, 2, 'open attempts')
    equal(
      ids(await claimAll(storage, until))
        .filter((id) => id === 'a' || id === 'c')
        .toSorted(),
      ['a', 'c'],
      'later',
    )
  }),

  promise('a settlement completes the job by the token of the lease', async (storage) => {
    const { queue } = storage
    if (queue?.takesLeases !== true) return
    const revision = await filled(storage, [event('e')])
    const given = leased('a', 'f')
    await storage.events.ingest([entry('w', revision, event('f'), [given])], { enqueue: true })
    const { lease, ...first } = given
    const claim = { id: 'a', workspace: 'w', group: first.endpoint_id, due_at: first.scheduled_at, token: lease!.token }
    const answers = await storage.attempts.settle([settlement('w', first, { claim })], { enqueue: true })
    equal(answers, [{ settled: true, disabled: false }], 'settled')
    equal((await queue.stats(until)).size, 0, 'jobs')
  }),
]
