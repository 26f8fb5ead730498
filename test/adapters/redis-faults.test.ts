import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { redis, type RedisClient } from '../../adapters/redis/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import * as rows from '../../src/testing/storage/rows.ts'
import {
  clients,
  describeOwnRedis,
  freshNamespace,
  startRedis,
  type TestClient,
  type TestRedis,
} from '../support/redis.ts'

const now = rows.start
const jobs = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `j${i}`, workspace: 'w', group: 'g', due_at: now + i }))
const claimAll = {
  limit: 100,
  free: 1000,
  cap: 100,
  busy: { workspaces: new Map(), groups: new Map(), low: new Map() },
  leaveOut: new Set<string>(),
  leaseMs: 30_000,
  now: now + 1000,
}
const unavailable = (message: string | RegExp = /./) =>
  expect.objectContaining({ name: 'PosthornError', code: 'unavailable', message: expect.stringMatching(message) })

/** Stands between client and server. After `cut`, the next answer of the server is lost with its connection. */
async function cuttingProxy(url: string) {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let cutting = false
  const proxy = createServer((inner) => {
    const outer = connect(Number(port), hostname)
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
    inner.pipe(outer)
    outer.on('data', (answer) => {
      if (cutting) {
        cutting = false
        inner.destroy()
      } else {
        inner.write(answer)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`, // a TCP server's address is one
    cut: () => void (cutting = true),
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** The client, waiting a moment before a command while its connection is down, as hosts' clients do by default. */
function waiting({ command }: TestClient): RedisClient {
  const call = async (name: string, ...args: string[]): Promise<unknown> => {
    for (let tries = 0; ; tries++) {
      try {
        await command('PING')
        break
      } catch (error) {
        if (tries === 100) throw error
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    return command(name, ...args)
  }
  return { call }
}

const isUp = (storage: Storage) =>
  storage.ping().then(
    () => true,
    () => false,
  )

/** Reconnecting takes real time, and a busy machine's own. */
const patience = { timeout: 15_000 }

describeOwnRedis.each(clients)('a Redis in trouble, through $name', patience, ({ open }) => {
  let server: TestRedis
  let connected: TestClient
  beforeAll(async () => {
    server = await startRedis()
    connected = await open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })
  const fresh = () => redis(connected.client, { namespace: freshNamespace() })

  test('scripts that the server forgot are sent again', async () => {
    const { queue } = fresh()
    await queue.add(jobs(1))
    await connected.command('SCRIPT', 'FLUSH')
    await queue.add(jobs(2))
    expect((await queue.stats(now)).size).toBe(2)
  })

  test('a flushed queue is an empty one: old holds change nothing, and jobs can be added again', async () => {
    const { queue } = fresh()
    await queue.add(jobs(3))
    const claims = await queue.claim(claimAll)
    await connected.command('FLUSHALL')
    expect(await queue.stats(now)).toEqual({ size: 0, oldestDueAt: null })
    await queue.complete(claims)
    await queue.release(claims)
    expect(await queue.extend(claims, now + 60_000)).toEqual(['j0', 'j1', 'j2'])
    await queue.add(jobs(3))
    expect(await queue.claim(claimAll)).toHaveLength(3)
  })

  test('a lost answer is asked for once more, and what ran twice stands once', async () => {
    const proxy = await cuttingProxy(server.url)
    const through = await open(proxy.url)
    const storage = redis(waiting(through), { namespace: freshNamespace() })
    const revision = await rows.made(storage, 'w')
    const entry = rows.entry('w', revision, rows.event('ev'), [rows.attempt('at', 'ev')])
    await storage.queue.stats(now) // its script is known now, so that the next command is the one that counts
    proxy.cut()
    expect(await storage.events.ingest([entry], { enqueue: true })).toEqual([{ kind: 'stored' }])
    proxy.cut()
    expect(await storage.queue.stats(now)).toEqual({ size: 1, oldestDueAt: now })
    expect((await storage.attempts.load(['at']))[0]!.event!.data).toBe('{"n":1}')
    through.close()
    proxy.close()
  })

  test('a write of configuration whose answer was lost is not made twice', async () => {
    const proxy = await cuttingProxy(server.url)
    const through = await open(proxy.url)
    const namespace = freshNamespace()
    const storage = redis(through.client, { namespace })
    await rows.made(storage, 'w')
    await storage.endpoints.insert('w', rows.endpoint('e1'))
    proxy.cut()
    await expect(storage.endpoints.insert('w', rows.endpoint('e2'))).rejects.toEqual(unavailable('connection'))
    const { endpoints } = redis(connected.client, { namespace })
    expect((await endpoints.list('w', rows.everything)).rows.map(({ id }) => id)).toEqual(['e1', 'e2'])
    through.close()
    proxy.close()
  })

  test('without memory it refuses and writes nothing, and what frees memory goes on', async () => {
    const storage = fresh()
    const revision = await rows.made(storage, 'w')
    await storage.queue.add(jobs(3))
    const claims = await storage.queue.claim({ ...claimAll, limit: 2 })
    await connected.command('CONFIG', 'SET', 'maxmemory', '1')
    try {
      const refused = unavailable('no memory')
      await expect(storage.queue.add(jobs(4))).rejects.toEqual(refused)
      await expect(storage.endpoints.insert('w', rows.endpoint('e'))).rejects.toEqual(refused)
      const entry = rows.entry('w', revision, rows.event('ev'), [rows.attempt('at', 'ev')])
      await expect(storage.events.ingest([entry], { enqueue: true })).rejects.toEqual(refused)
      await storage.queue.complete(claims)
    } finally {
      await connected.command('CONFIG', 'SET', 'maxmemory', '0')
    }
    expect((await storage.queue.stats(now)).size).toBe(1)
    expect(await storage.configuration('w')).toMatchObject({ revision, endpoints: [] })
    expect(await storage.events.get('w', 'ev')).toBeNull()
  })

  test('a replica refuses writes and answers reads', async () => {
    const { queue } = fresh()
    await queue.add(jobs(2))
    await connected.command('REPLICAOF', '127.0.0.1', '1')
    try {
      await expect(queue.add(jobs(3))).rejects.toEqual(unavailable('read-only replica'))
      expect((await queue.stats(now)).size).toBe(2)
    } finally {
      await connected.command('REPLICAOF', 'NO', 'ONE')
    }
    await queue.add(jobs(3))
    expect((await queue.stats(now)).size).toBe(3)
  })

  test.for([
    ['without memory', 'no memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['a replica', 'read-only replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    [
      'without enough replicas',
      'too few replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
  ] as const)('%s it answers reads, but no ping', async ([, refusal, [bad, ...how], [good, ...back]]) => {
    const { ping, queue } = fresh()
    await connected.command(bad, ...how)
    try {
      await expect(queue.stats(now)).resolves.toMatchObject({ size: 0 })
      await expect(ping()).rejects.toEqual(unavailable(refusal))
      await expect(queue.ping!()).rejects.toEqual(unavailable(refusal))
    } finally {
      await connected.command(good, ...back)
    }
    await ping()
    await queue.ping!()
  })

  test('while the server is away every call says so, and afterwards all goes on', async () => {
    const own = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
    const through = await open(own.url)
    const storage = redis(through.client, { namespace: freshNamespace() })
    await storage.queue.add(jobs(2))
    await own.kill()
    await expect(storage.ping()).rejects.toEqual(unavailable())
    await expect(storage.queue.add(jobs(3))).rejects.toEqual(unavailable())
    await expect(storage.limiter.take([{ key: 'k', limit: { quota: 1, period: 1 }, want: 1 }], now)).rejects.toEqual(
      unavailable(),
    )
    await expect(storage.workspaces.find('w')).rejects.toEqual(unavailable())
    await own.start()
    await expect.poll(() => isUp(storage), patience).toBe(true)
    expect((await storage.queue.stats(now)).size).toBe(2)
    through.close()
    await own.stop()
  })

  test('killed in the middle of a load it has lost nothing that it acknowledged', async () => {
    const own = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
    const through = await open(own.url)
    const storage = redis(through.client, { namespace: freshNamespace() })
    const revision = await rows.made(storage, 'w')
    const stored: string[] = []
    const publish = async (id: string): Promise<void> => {
      const attempt = rows.attempt(`at-${id}`, id)
      const [answer] = await storage.events.ingest([rows.entry('w', revision, rows.event(id), [attempt])], {
        enqueue: true,
      })
      if (answer!.kind === 'stored') stored.push(id)
      if (stored.length === 300) await own.kill()
    }
    const calls = Array.from({ length: 1000 }, (_, i) => publish(`ev${i}`))
    expect((await Promise.allSettled(calls)).some(({ status }) => status === 'rejected')).toBe(true)
    await own.start()
    await expect.poll(() => isUp(storage), patience).toBe(true)
    const found = await Promise.all(stored.map((id) => storage.events.get('w', id)))
    expect(found.filter((event) => event === null)).toEqual([])
    const deliveries = await storage.attempts.load(stored.map((id) => `at-${id}`))
    expect(deliveries).toHaveLength(stored.length)
    through.close()
    await own.stop()
  })

  test('a listener that lost its connection is woken once it is back, since it may have missed something', async () => {
    const storage = fresh()
    const woken: string[] = []
    await storage.queue.onAdded!(() => woken.push('jobs'))
    await storage.onChanged!((change) => woken.push(JSON.stringify(change)))
    await connected.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await expect.poll(() => woken, patience).toEqual(['jobs', '"everything"'])
    await storage.close()
  })

  test('what nobody listens to any more keeps no connection', async () => {
    const storage = fresh()
    const stopJobs = await storage.queue.onAdded!(() => {})
    const stopChanges = await storage.onChanged!(() => {})
    expect((await storage.stats()).total).toBe(2)
    await stopJobs()
    await stopChanges()
    await stopChanges()
    expect((await storage.stats()).total).toBe(1)
    const pubsub = async () => String(await connected.command('CLIENT', 'LIST', 'TYPE', 'pubsub'))
    await expect.poll(pubsub, patience).toBe('')
    await storage.close()
    await storage.close()
  })
})

describe('what a server that cannot serve answers', () => {
  test.for([
    ['OOM command not allowed when used memory', 'no memory'],
    ['ERR Error running script: @user_script:1: -OOM command not allowed', 'no memory'],
    ["READONLY You can't write against a read only replica.", 'read-only'],
    ['LOADING Redis is loading the dataset in memory', 'loading'],
    ["MISCONF Redis is configured to save RDB snapshots, but can't", 'persist'],
    ['NOAUTH Authentication required.', 'password'],
    ['CLUSTERDOWN The cluster is down', 'cluster'],
    ['Connection is closed.', 'connection'],
  ])('%s', async ([answer, message]) => {
    const storage = redis({ call: () => Promise.reject(new Error(answer)) })
    await expect(storage.ping()).rejects.toEqual(unavailable(message))
  })

  test.for([
    new Error('WRONGTYPE Operation against a key holding the wrong kind of value'),
    new TypeError('Invalid argument type'),
  ])('what is not understood is passed on without the command that a client puts into it: %s', async (error) => {
    const command = { name: 'EVALSHA', args: ['{"secret":"whsec_"}'] }
    const ping = redis({ call: () => Promise.reject(Object.assign(error, { command, args: command.args })) }).ping()
    const { name, message, stack } = error
    await expect(ping).rejects.toEqual(expect.objectContaining({ name, message, stack }))
    await expect(ping).rejects.not.toHaveProperty('command')
    await expect(ping).rejects.not.toHaveProperty('args')
  })

  test('what is understood keeps its cause, without the command too', async () => {
    const error = Object.assign(new Error('OOM command not allowed'), { command: { args: ['whsec_'] } })
    const ping = redis({ call: () => Promise.reject(error) }).ping()
    await expect(ping).rejects.toHaveProperty('cause.message', error.message)
    await expect(ping).rejects.not.toHaveProperty('cause.command')
  })

  test('an answer that never comes is given up', async () => {
    vi.useFakeTimers()
    const ping = redis({ call: () => new Promise(() => {}) }).ping()
    const [outcome] = await Promise.all([Promise.allSettled([ping]), vi.advanceTimersByTimeAsync(5000)])
    expect(outcome).toEqual([{ status: 'rejected', reason: unavailable('5000 ms') }])
    vi.useRealTimers()
  })

  test('without a way to duplicate the client there are no wake-ups, and no other difference', () => {
    const storage = redis({ call: () => new Promise(() => {}) })
    expect([storage.queue.onAdded, storage.inbox.onPut, storage.onChanged]).toEqual([undefined, undefined, undefined])
  })

  test('a namespace that would break the hash tag is refused', () => {
    expect(() => redis({ call: () => new Promise(() => {}) }, { namespace: 'a}b' })).toThrow('namespace')
  })
})
