import type { Change } from '../../contracts/storage/configuration.ts'
import type { Storage } from '../../contracts/storage.ts'
import { equal, ok } from '../assert.ts'
import { type Contract, promise } from '../contract.ts'
import { attempt, endpoint, entry, event, everything, filled, ids, made, settlement, start } from './rows.ts'

const plain = { enqueue: false }
const nothing = { eventsBefore: null, attemptsBefore: null, limit: 100 }

export const upkeepCases: Contract<Storage> = [
  promise('purge removes old events that have no open attempt, with their attempts', async (storage) => {
    const tries = [attempt('ta', 'a'), attempt('tb', 'b'), attempt('tb2', 'b'), attempt('tc', 'c')]
    const events = [
      event('a', { created_at: 100, unique_id: 'u' }),
      event('b', { created_at: 200 }),
      event('c', { created_at: 300 }),
      event('d', { created_at: 250 }),
    ]
    await filled(storage, events, tries)
    await storage.attempts.settle(
      [settlement('w', tries[0]!), settlement('w', tries[1]!), settlement('w', tries[3]!)],
      plain,
    )
    equal(await storage.purge(nothing), 0, 'without bounds')
    equal(await storage.purge({ ...nothing, eventsBefore: 300 }), 3, 'rows: a, ta and d')
    equal(ids((await storage.events.list('w', everything)).rows), ['b', 'c'], 'events')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['tb', 'tb2', 'tc'], 'attempts')
    equal(await storage.purge({ ...nothing, eventsBefore: 300 }), 0, 'nothing is left')
  }),

  promise(
    'purge of a workspace removes its old events that have no open attempt, and nothing of others',
    async (storage) => {
      const tries = [attempt('ta', 'a'), attempt('tb', 'b')]
      const events = [
        event('a', { created_at: 100, unique_id: 'u' }),
        event('b', { created_at: 100 }),
        event('c', { created_at: 300 }),
        event('d', { created_at: 100 }),
      ]
      await filled(storage, events, tries)
      const revision = await made(storage, 'other')
      await storage.events.ingest([entry('other', revision, event('x', { created_at: 100 }))], plain)
      await storage.attempts.settle([settlement('w', tries[0]!)], plain)
      const bound = { ...nothing, eventsBefore: 300, workspaceId: 'w' }
      equal(await storage.purge({ ...bound, workspaceId: 'unknown' }), 0, 'of an unknown workspace')
      equal(await storage.purge({ ...bound, limit: 1 }), 1, 'up to the limit')
      equal(await storage.purge(bound), 2, 'the rest: a, ta and d')
      equal(await storage.purge(bound), 0, 'nothing is left')
      equal(ids((await storage.events.list('w', everything)).rows), ['b', 'c'], 'events')
      equal(ids((await storage.attempts.list('w', everything)).rows), ['tb'], 'attempts')
      equal(ids((await storage.events.list('other', everything)).rows), ['x'], 'events of others')
    },
  ),

  promise('purge removes old finished attempts, and no event', async (storage) => {
    const tries = [
      attempt('a', 'e', { created_at: 100 }),
      attempt('b', 'e', { created_at: 200 }),
      attempt('c', 'e', { created_at: 100 }),
    ]
    await filled(storage, [event('e')], tries)
    await storage.attempts.settle([settlement('w', tries[0]!), settlement('w', tries[1]!)], plain)
    equal(await storage.purge({ ...nothing, attemptsBefore: 200 }), 1, 'rows')
    equal(ids((await storage.attempts.list('w', everything)).rows), ['b', 'c'], 'attempts')
    equal(ids((await storage.events.list('w', everything)).rows), ['e'], 'events')
  }),

  promise('purge never takes more than its limit, and goes on where it stopped', async (storage) => {
    const names = Array.from({ length: 10 }, (_, i) => `e${10 + i}`)
    const tries = names.flatMap((id) => [attempt(`${id}a`, id), attempt(`${id}b`, id)])
    await filled(
      storage,
      names.map((id) => event(id)),
      tries,
    )
    await storage.attempts.settle(
      tries.map((one) => settlement('w', one)),
      plain,
    )
    let removed = 0
    for (let calls = 0; calls < 50; calls++) {
      const count = await storage.purge({ eventsBefore: start + 1, attemptsBefore: null, limit: 7 })
      ok(count <= 7, `${count} rows at once`)
      removed += count
      if (count === 0) break
    }
    equal(removed, 30, 'rows')
    equal((await storage.events.list('w', everything)).total, 0, 'events')
    equal((await storage.attempts.list('w', everything)).total, 0, 'attempts')
  }),

  promise('purge beside writers takes no event to which an attempt is added at that moment', async (storage) => {
    const names = Array.from({ length: 60 }, (_, i) => `e${10 + i}`)
    const tries = names.map((id) => attempt(`${id}a`, id))
    await filled(
      storage,
      names.map((id) => event(id)),
      tries,
    )
    await storage.attempts.settle(
      tries.map((one) => settlement('w', one)),
      plain,
    )
    const purgeAll = async (): Promise<void> => {
      while ((await storage.purge({ eventsBefore: start + 1, attemptsBefore: null, limit: 20 })) > 0);
    }
    const again = names.map((id) => attempt(`${id}b`, id))
    const [added] = await Promise.all([
      Promise.all(again.map(async (one) => (await storage.attempts.add('w', [one], plain))[0] === true)),
      purgeAll(),
    ])
    await purgeAll()
    const open = again.filter((_, i) => added[i])
    const deliveries = await storage.attempts.load(again.map(({ id }) => id))
    equal(
      deliveries.map((delivery) => [delivery.attempt.id, delivery.event?.id]),
      open.map((one) => [one.id, one.event_id]),
      'open attempts with their events',
    )
    equal(
      ids((await storage.events.list('w', everything)).rows),
      open.map((one) => one.event_id),
      'events',
    )
  }),

  promise('purge removes what deleted workspaces left, and nothing of others', async (storage) => {
    await filled(storage, [event('a', { unique_id: 'u' }), event('b')], [attempt('t', 'a'), attempt('u', 'b')])
    await storage.workspaces.delete('w')
    const revision = await made(storage, 'other')
    await storage.events.ingest(
      [{ workspaceId: 'other', revision, event: event('c'), attempts: [attempt('v', 'c')] }],
      plain,
    )
    let rounds = 0
    while ((await storage.purge({ ...nothing, limit: 3 })) > 0) rounds++
    ok(rounds > 0 && rounds < 20, `${rounds} rounds`)
    equal(ids((await storage.events.list('other', everything)).rows), ['c'], 'events')
    equal(ids((await storage.attempts.list('other', everything)).rows), ['v'], 'attempts')
    // The ids of the deleted workspace can be used again.
    const again = { workspaceId: 'other', revision, event: event('a'), attempts: [attempt('t', 'a')] }
    equal(await storage.events.ingest([again], plain), [{ kind: 'stored' }], 'the old ids')
  }),

  promise('a turn is one caller’s in each period, and kinds of work do not touch', async (storage) => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => storage.turn('sweep', 1000, start + 10)))
    equal(answers.filter(Boolean).length, 1, 'in one period')
    equal(await storage.turn('sweep', 1000, start + 999), false, 'later in it')
    equal(await storage.turn('sweep', 1000, start + 1000), true, 'in the next one')
    equal(await storage.turn('sweep', 1000, start + 500), false, 'in one that is over')
    equal(await storage.turn('purge', 1000, start + 10), true, 'another kind')
  }),

  promise('the engine tells its time, answers a ping and counts its connections', async (storage) => {
    await storage.ping()
    const time = await storage.time()
    ok(Number.isFinite(time) && time > start - 365 * 86_400_000, `time is ${time}`)
    const { total, active } = await storage.stats()
    ok(total >= 0 && active >= 0 && active <= total, `connections are ${total}, ${active} busy`)
    ok(storage.name !== '', 'it has a name')
  }),

  promise('listeners hear of changes until they stop', async (storage) => {
    if (storage.onChanged === undefined) return
    await made(storage, 'w')
    let heard: () => void = () => {}
    const hint = new Promise<void>((resolve) => (heard = resolve))
    const concerns = (change: Change) =>
      change === 'everything' || (typeof change === 'object' && change.workspaceId === 'w')
    const stop = await storage.onChanged((change) => {
      if (concerns(change)) heard()
    })
    await storage.endpoints.insert('w', endpoint('ep'))
    await hint
    await stop()
    await stop()
  }),
]
