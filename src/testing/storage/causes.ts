import type { Cause } from '../../contracts/storage/causes.ts'
import type { Process } from '../../contracts/storage/processes.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, counted, endpoint, event, filled, settlement, start } from './rows.ts'

const plain = { enqueue: false }
const told = { ...counted, told: true }
const all = { after: null, limit: 100 }

const cause = (id: string, more: Partial<Cause> = {}): Cause => ({
  kind: 'failing',
  id,
  workspace_id: 'w',
  endpoint_id: 'ep',
  attempt_id: null,
  at: start,
  reason: null,
  ...more,
})

export const causeCases: Contract<Storage> = [
  promise('an exhausted delivery and a disabled endpoint leave a cause where they are to be told', async (storage) => {
    const tries = ['a', 'b', 'c', 'd'].map((id) => attempt(id, 'e'))
    await filled(storage, [event('e')], tries)
    await storage.endpoints.insert('w', endpoint('ep'))
    const failed = { status: 'FAILED', exhausted: true } as const
    const disable = { url: 'https://example.com/hook' }
    await storage.attempts.settle(
      [
        settlement('w', tries[0]!, { ...failed, counted: told }),
        settlement('w', tries[1]!, { ...failed, counted }),
        settlement('w', tries[2]!, { ...failed, counted: told, disable }),
      ],
      plain,
    )
    await storage.attempts.settle([settlement('w', tries[3]!, { ...failed, counted: told, disable })], plain)
    equal(await storage.causes.list({ kind: 'exhausted', ...all }), [], 'before the fold')
    while ((await storage.statistics.fold()) > 0);
    const of = (id: string) => cause(id, { kind: 'exhausted', attempt_id: id, at: start + 20 })
    equal(await storage.causes.list({ kind: 'exhausted', ...all }), ['a', 'c', 'd'].map(of), 'exhausted')
    const disabled = { ...of('c'), kind: 'disabled', reason: 'gone' }
    equal(await storage.causes.list({ kind: 'disabled', ...all }), [disabled], 'disabled by the first of two')
  }),

  promise('causes are there once, in id order by kind, until they are removed', async (storage) => {
    await storage.causes.add([cause('b'), cause('a'), cause('c'), cause('a', { kind: 'troubled' })])
    await storage.causes.add([cause('b', { at: start + 1 })])
    equal(
      await storage.causes.list({ kind: 'failing', ...all }),
      ['a', 'b', 'c'].map((id) => cause(id)),
      'all',
    )
    equal(await storage.causes.list({ kind: 'failing', after: 'a', limit: 1 }), [cause('b')], 'one after another')
    await storage.causes.remove([cause('a'), cause('c')])
    await storage.causes.remove([])
    equal(await storage.causes.list({ kind: 'failing', ...all }), [cause('b')], 'left')
    equal((await storage.causes.list({ kind: 'troubled', ...all })).length, 1, 'of another kind')
  }),

  promise('processes are told as they were seen last, and forgotten after a time', async (storage) => {
    const one = (id: string, seen_at: number, sent = 0): Process => ({
      id,
      version: '1.0.0',
      runtime: 'node v22.1.0',
      started_at: start,
      seen_at,
      in_flight: 3,
      sent,
    })
    await storage.processes.seen(one('b', start), start - 10)
    await storage.processes.seen(one('a', start + 5), start - 5)
    await storage.processes.seen(one('b', start + 10, 7), start)
    equal(await storage.processes.list(start), [one('a', start + 5), one('b', start + 10, 7)], 'both')
    equal(await storage.processes.list(start + 6), [one('b', start + 10, 7)], 'lately')
    await storage.processes.seen(one('b', start + 20, 8), start + 6)
    equal(await storage.processes.list(0), [one('b', start + 20, 8)], 'the other one is forgotten')
  }),
]
