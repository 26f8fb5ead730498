import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import type { Row } from '../../adapters/sql/values.ts'
import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import { redis } from '../../adapters/redis/index.ts'
import type { Inbox } from '../../src/contracts/inbox.ts'
import type { Job, Queue } from '../../src/contracts/queue.ts'
import { claimOptions } from '../support/claim-options.ts'
import { schemasOf } from '../support/postgres.ts'
import { clients, describeRedis, freshNamespace, sharedRedis, type TestClient } from '../support/redis.ts'

/** An engine whose next answers may be lost. What was asked for is done all the same. */
interface Losing {
  readonly queue: Queue
  readonly inbox: Inbox
  /** The next answers of claims and takes are lost, as many as this. */
  lose(answers: number): void
  /** The next claims, as many as this, get no answer, and arrive when what this answers is called. */
  delay(claims: number): () => Promise<unknown>
}

/** What becomes of a statement or command that claims or takes. */
function trouble() {
  let losing = 0
  let delaying = 0
  const delayed: (() => Promise<unknown>)[] = []
  return {
    async pass<Answer>(send: () => Promise<Answer>): Promise<Answer> {
      if (delaying > 0) {
        delaying--
        delayed.push(send)
        throw lostConnection()
      }
      const answer = await send()
      if (losing === 0) return answer
      losing--
      throw lostConnection()
    },
    lose: (answers: number) => void (losing = answers),
    delay(claims: number) {
      delaying = claims
      return () => Promise.all(delayed.map((send) => send()))
    },
  }
}

function promises(fresh: () => Promise<Losing>, { triesAgain }: { triesAgain: boolean }): void {
  const now = 1_763_000_000_000
  const lostForGood = triesAgain ? 2 : 1
  const job = (n: number): Job => ({ id: `j${n}`, workspace: `w${n % 2}`, group: `g${n % 2}`, due_at: now - 100 + n })
  const jobs = Array.from({ length: 6 }, (_, n) => job(n))
  const claim = (queue: Queue, at: number) => queue.claim(claimOptions({ now: at, leaseMs: 30_000, limit: 4 }))
  const idsOf = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id).toSorted()

  test('jobs of a claim whose answer was lost are claimed by the next one, and held once', async () => {
    const { queue, lose } = await fresh()
    await queue.add(jobs)
    lose(lostForGood)
    await expect(claim(queue, now)).rejects.toMatchObject({ code: 'unavailable' })
    const first = await claim(queue, now + 10)
    expect(idsOf(first)).toEqual(['j0', 'j1', 'j2', 'j3'])
    const second = await claim(queue, now + 20)
    expect(idsOf(second)).toEqual(['j4', 'j5'])
    // The lost claim is still asked for, and touches no hold of these.
    expect(await claim(queue, now + 1000)).toEqual([])
    expect(await queue.extend([...first, ...second], now + 60_000)).toEqual([])
    await queue.complete([...first, ...second])
    expect(await queue.stats(now)).toEqual({ size: 0, oldestDueAt: null })
  })

  test('a claim that arrives when its caller has claimed again holds nothing for long', async () => {
    const { queue, delay } = await fresh()
    await queue.add(jobs)
    const arrive = delay(lostForGood)
    await expect(claim(queue, now)).rejects.toMatchObject({ code: 'unavailable' })
    const first = await claim(queue, now)
    expect(idsOf(first)).toEqual(['j0', 'j1', 'j2', 'j3'])
    await arrive()
    expect(await claim(queue, now + 20)).toEqual([])
    expect(idsOf(await claim(queue, now + 600))).toEqual(['j4', 'j5'])
    expect(await queue.extend(first, now + 60_000)).toEqual([])
  })

  test('messages of a take whose answer was lost are taken by the next one, and that was no try', async () => {
    const { inbox, lose } = await fresh()
    await inbox.put(
      Array.from({ length: 3 }, (_, n) => ({
        id: `m${n}`,
        workspaceId: `w${n % 2}`,
        event_type: 'a',
        data: `{"n":${n}}`,
        unique_id: null,
        received_at: now + n,
      })),
    )
    const take = (at: number) => inbox.take({ limit: 2, maxBytes: 1000, leaseMs: 30_000, now: at })
    lose(lostForGood)
    await expect(take(now + 10)).rejects.toMatchObject({ code: 'unavailable' })
    const taken = [...(await take(now + 20)), ...(await take(now + 30))]
    expect(idsOf(taken)).toEqual(['m0', 'm1', 'm2'])
    expect(taken.map(({ tries }) => tries)).toEqual([1, 1, 1])
    await take(now + 6000)
    await inbox.done(taken)
    expect(await inbox.size()).toBe(0)
  })

  if (!triesAgain) return
  test('a claim and a take that are sent twice answer what they took the first time', async () => {
    const { queue, inbox, lose } = await fresh()
    await queue.add(jobs)
    const message = { workspaceId: 'w', event_type: 'a', unique_id: null, received_at: now }
    await inbox.put(Array.from({ length: 3 }, (_, n) => ({ ...message, id: `m${n}`, data: `"${n}"` })))
    lose(1)
    const claims = await claim(queue, now)
    expect(claims.map(({ id, workspace, group, due_at }) => ({ id, workspace, group, due_at }))).toEqual(
      jobs.slice(0, 4),
    )
    lose(1)
    const taken = await inbox.take({ limit: 2, maxBytes: 1000, leaseMs: 30_000, now: now + 10 })
    expect(taken.map(({ id, data, tries }) => ({ id, data, tries }))).toEqual([
      { id: 'm0', data: '"0"', tries: 1 },
      { id: 'm1', data: '"1"', tries: 1 },
    ])
    await queue.complete(claims)
    await inbox.done(taken)
    expect([(await queue.stats(now)).size, await inbox.size()]).toEqual([2, 1])
  })
}

const lostConnection = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

const url = inject('postgresUrl')
describe.skipIf(url === null)('PostgreSQL', () => {
  const pool = new Pool({ connectionString: url ?? '', max: 4 })
  const schemas = schemasOf(pool)
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  async function fresh(): Promise<Losing> {
    const { schema } = await schemas.open({ listen: false })
    const { pass, lose, delay } = trouble()
    const client: PostgresClient = {
      query(text, values) {
        const send = () => pool.query<Row>(text, values)
        return /worked_in|recursive walk/.test(text) ? pass(send) : send()
      },
    }
    const { queue, inbox } = postgres(client, { schema, listen: false })
    return { queue, inbox, lose, delay }
  }
  promises(fresh, { triesAgain: false })
})

describeRedis('Redis', () => {
  let server: Awaited<ReturnType<typeof sharedRedis>>
  let connected: TestClient
  beforeAll(async () => {
    server = await sharedRedis()
    connected = await clients[0]!.open(server.url)
  })
  afterAll(async () => {
    connected.close()
    await server.stop()
  })

  async function fresh(): Promise<Losing> {
    const { pass, lose, delay } = trouble()
    const call = (name: string, ...args: string[]): Promise<unknown> => {
      const send = () => connected.command(name, ...args)
      return name === 'EVALSHA' ? pass(send) : send()
    }
    const { queue, inbox } = redis({ call }, { namespace: freshNamespace() })
    // The server knows the scripts then.
    await queue.claim(claimOptions({ now: 1 }))
    await inbox.take({ limit: 1, maxBytes: 1, leaseMs: 1, now: 1 })
    return { queue, inbox, lose, delay }
  }
  promises(fresh, { triesAgain: true })
})
