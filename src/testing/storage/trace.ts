import type { Storage } from '../../contracts/storage.ts'
import { equal } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, entry, event, made } from './rows.ts'

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

export const traceCases: Contract<Storage> = [
  promise(
    'the trace context of an event comes with each of its attempts, and is no part of the event',
    async (storage) => {
      const revision = await made(storage, 'w')
      const traced = { ...entry('w', revision, event('e', { unique_id: 'u' }), [attempt('t', 'e')]), trace }
      const plain = entry('w', revision, event('f'), [attempt('x', 'f')])
      const options = { enqueue: false }
      equal(await storage.events.ingest([traced, plain], options), [{ kind: 'stored' }, { kind: 'stored' }], 'ingest')
      equal(await storage.attempts.add('w', [attempt('m', 'e')], options), [true], 'add')
      const loaded = await storage.attempts.load(['t', 'm', 'x'])
      equal(
        loaded.map((delivery) => [delivery.attempt.id, delivery.trace]),
        [
          ['t', trace],
          ['m', trace],
          ['x', undefined],
        ],
        'trace of each attempt',
      )
      equal(loaded[0]?.event, await storage.events.get('w', 'e'), 'the event')
      equal(await storage.events.get('w', 'e'), event('e', { unique_id: 'u' }), 'the event as it was given')
      const again = { ...traced, trace: trace.replace('-01', '-00') }
      equal(await storage.events.ingest([again], options), [{ kind: 'stored' }], 'the same event sent again')
    },
  ),
]
