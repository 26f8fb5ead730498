import { createServer } from 'node:net'

import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'

import type { Change } from '../../src/contracts/storage/configuration.ts'
import { PosthornError } from '../../src/errors.ts'
import { clientOf } from '../../adapters/postgres/client-of.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import {
  attempt,
  counted,
  endpoint,
  entry,
  event,
  filled,
  made,
  settlement,
  start,
} from '../../src/testing/storage/rows.ts'
import { claimOptions } from '../support/claim-options.ts'
import { clients, freePort, schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

/** Waits for what others bring about, at most two seconds. */
async function until(happened: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await happened()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it did not happen within two seconds')
}

describe.skipIf(url === null)('the adapter for PostgreSQL', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 20 }) // skipped where it is null
    pool.on('error', () => {})
    schemas = schemasOf(pool)
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  test('data and metadata come back byte for byte, in the order they were given', async () => {
    const { subject, close } = await schemas.open()
    const data = '{ "n":12345678901234567890,"b":1.0, "a":"\\u0000\\ud83d","é":"😀" ,"b":2}'
    const revision = await filled(subject, [event('e', { data })])
    expect((await subject.events.get('w', 'e'))?.data).toBe(data)
    const metadata = { zebra: '1', apple: '2', 'a\nb': '"', constructor: 'x' }
    await subject.endpoints.insert('w', endpoint('ep', { metadata }))
    const row = (await subject.endpoints.get('w', 'ep'))?.row
    expect(JSON.stringify(row?.metadata)).toBe(JSON.stringify(metadata))
    expect(JSON.stringify(row)).toBe(JSON.stringify(endpoint('ep', { metadata })))
    expect(revision).toBeGreaterThan(0)
    await close()
  })

  test('one poisoned entry among two hundred is rejected alone, even if only the engine sees it', async () => {
    const { subject, close } = await schemas.open()
    const revision = await made(subject, 'w')
    const entries = Array.from({ length: 200 }, (_, i) => {
      const id = `e${1000 + i}`
      // A number that no bigint holds, which nothing looks at before.
      return entry('w', revision, event(id, i === 77 ? { ingested_at: 1e30 } : {}), [attempt(`a${id}`, id)])
    })
    const answers = await subject.events.ingest(entries, { enqueue: true })
    expect(answers.map(({ kind }) => kind)).toEqual(entries.map((_, i) => (i === 77 ? 'rejected' : 'stored')))
    expect((await subject.queue.stats(start)).size).toBe(199)
    await close()
  })

  test('a settlement that the engine refuses is written without its captures, and holds up no other', async () => {
    const { subject, close } = await schemas.open()
    const attempts = Array.from({ length: 20 }, (_, i) => attempt(`a${10 + i}`, 'e'))
    await filled(subject, [event('e')], attempts)
    const response = { status: 200, latency: 12.5, headers: null, body: 'fine' }
    const settlements = attempts.map((one, i) =>
      settlement('w', one, { response: i === 7 ? { ...response, status: 1e30 } : response }),
    )
    const answers = await subject.attempts.settle(settlements, { enqueue: true })
    expect(answers.every(({ settled }) => settled)).toBe(true)
    expect(await subject.attempts.get('w', 'a17')).toMatchObject({ status: 'SUCCESSFUL', response: null })
    expect(await subject.attempts.get('w', 'a18')).toMatchObject({ status: 'SUCCESSFUL', response })
    await close()
  })

  test('a row that the host’s own trigger refuses holds up no other, whatever the state it raises', async () => {
    const { subject, schema, close } = await schemas.open()
    const revision = await made(subject, 'w')
    const refusing = (table: string, column: string, state: string) => `
      create or replace function "${schema}".refuse_${table}() returns trigger language plpgsql as $$
        begin raise exception 'not this one' using errcode = '${state}'; end $$;
      create trigger refuse before insert on "${schema}".${table} for each row
        when (new.${column} = 'bad') execute function "${schema}".refuse_${table}()`
    await pool.query(refusing('events', 'event_type', 'P0001'))
    await pool.query(refusing('outcomes', 'error_code', '38001'))
    await pool.query(refusing('messages', 'event_type', 'XX001'))
    const isBad = (n: number) => n === 3 || n === 30
    const all = Array.from({ length: 40 }, (_, n) => `e${100 + n}`)
    const badOnly = all.map((_, n) => isBad(n))

    const entries = all.map((id, n) => entry('w', revision, event(id, isBad(n) ? { event_type: 'bad' } : {})))
    const answers = await subject.events.ingest(entries, { enqueue: true })
    expect(answers.map(({ kind }) => kind === 'rejected')).toEqual(badOnly)
    const messages = all.map((id, n) => ({
      id,
      workspaceId: 'w',
      event_type: isBad(n) ? 'bad' : 'good',
      data: '1',
      unique_id: null,
      received_at: start,
    }))
    const put = await subject.inbox.put(messages)
    expect(put.map(({ kind }) => kind === 'rejected')).toEqual(badOnly)
    expect(await subject.inbox.size()).toBe(38)
    const tries = all.filter((_, n) => !isBad(n)).map((id) => attempt(`t${id}`, id))
    await subject.attempts.add('w', tries, { enqueue: false })
    const settlements = tries.map((of, n) => ({
      ...settlement('w', of, { status: 'FAILED' }),
      error_code: (n === 7 ? 'bad' : null) as 'UNKNOWN' | null,
    }))
    const settled = await subject.attempts.settle(settlements, { enqueue: true })
    expect(settled.map((each) => each.settled)).toEqual(tries.map((_, n) => n !== 7))
    expect(settled[7]).toMatchObject({ refused: { cause: { code: '38001' } } })
    // The schema is used again.
    for (const table of ['events', 'outcomes', 'messages'])
      await pool.query(`drop trigger refuse on "${schema}".${table}`)
    await close()
  })

  test('a unique_id whose event never came is free again', async () => {
    const { subject, schema, close } = await schemas.open()
    const revision = await made(subject, 'w')
    await pool.query(`insert into ${schema}.unique_ids select key, 'u', 'gone' from ${schema}.workspaces`)
    const entries = [entry('w', revision, event('e', { unique_id: 'u' }))]
    expect(await subject.events.ingest(entries, { enqueue: true })).toEqual([{ kind: 'stored' }])
    await close()
  })

  test('equal batches in opposite order, many at once, all come through', async () => {
    const { subject, close } = await schemas.open()
    const attempts = Array.from({ length: 100 }, (_, i) => attempt(`a${100 + i}`, 'e'))
    await filled(subject, [event('e')], attempts, true)
    const claims = await subject.queue.claim(claimOptions({ now: start }))
    const settlements = attempts.map((one) =>
      settlement('w', one, { counted, claim: claims.find(({ id }) => id === one.id) ?? null }),
    )
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        subject.attempts.settle(i % 2 === 0 ? settlements : settlements.toReversed(), { enqueue: true }),
      ),
    )
    expect(
      answers.flat().filter(({ settled }) => settled),
      'each was answered as the first',
    ).toHaveLength(600)
    while ((await subject.statistics.fold()) > 0);
    expect(await subject.attempts.tallies(start)).toMatchObject([{ total: 100, failed: 0 }])
    await close()
  })

  describe('errors', () => {
    test('a statement that is not answered in time is unavailable', async () => {
      vi.useFakeTimers()
      try {
        const answer = postgres({ query: () => new Promise<{ rows: [] }>(() => {}) }).ping()
        const outcome = answer.catch((error: unknown) => error)
        await vi.advanceTimersByTimeAsync(21_000)
        expect(await outcome).toMatchObject({ code: 'unavailable' })
      } finally {
        vi.useRealTimers()
      }
    })

    test('a server that is not there, or goes away, is unavailable', async () => {
      const gone = new Pool({ connectionString: `postgres://u@127.0.0.1:${await freePort()}/x` })
      await expect(postgres(gone).ping()).rejects.toMatchObject({ code: 'unavailable' })
      await gone.end()

      const hangingUp = createServer((socket) => socket.destroy())
      await new Promise<void>((resolve) => hangingUp.listen(0, '127.0.0.1', resolve))
      const { port } = hangingUp.address() as { port: number } // a TCP server's address is one
      const lost = new Pool({ connectionString: `postgres://u@127.0.0.1:${port}/x` })
      await expect(postgres(lost).ping()).rejects.toMatchObject({ code: 'unavailable' })
      await lost.end()
      hangingUp.close()
    })

    test.each(clients)(
      'a connection of $name that is killed at work is unavailable, and the next call works',
      async ({ open }) => {
        const { handle, close } = open(url!)
        const storage = postgres(handle, { listen: false })
        const working = clientOf(handle).query('select pg_sleep(5) /* victim */', [])
        const outcome = working.then(
          () => 'done',
          (error: unknown) => error,
        )
        await until(async () => {
          const { rows } = await pool.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where query like '%/* victim */' and pid <> pg_backend_pid()`,
          )
          return rows.length > 0
        })
        expect(await outcome).not.toBe('done')
        await expect(storage.time()).resolves.toBeGreaterThan(0)
        await close()
      },
    )

    test('no message holds SQL or values, and the cause is kept', async () => {
      const { subject, schema, close } = await schemas.open()
      await pool.query(`alter table ${schema}.turns add constraint no_secret check (name <> 'secret')`)
      const error = await subject.turn('secret', 1, 1).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(PosthornError)
      expect(error).toMatchObject({ code: 'internal', message: 'PostgreSQL refused a statement (23514)' })
      expect((error as PosthornError).cause).toBeInstanceOf(Error)
      await pool.query(`alter table ${schema}.turns drop constraint no_secret`)
      await close()
    })

    test('a server out of transaction ids is unavailable, and no entry is blamed for it', async () => {
      const texts: string[] = []
      const error = Object.assign(new Error('database is not accepting commands'), {
        code: '54000',
        routine: 'GetNewTransactionId',
      })
      const query = (text: string) => {
        texts.push(text)
        return Promise.reject(error)
      }
      const storage = postgres({ query })
      const entries = ['a', 'b'].map((id) => entry('w', 1, event(id)))
      await expect(storage.events.ingest(entries, { enqueue: true })).rejects.toMatchObject({ code: 'unavailable' })
      expect(texts).toHaveLength(1)
    })
  })

  test.each(clients)('$name sends lists of texts as they are, without asking for types', async ({ open }) => {
    const { handle, close } = open(url!)
    const texts = ['', 'a,b', '"', '\\', '{}', 'NULL', ' blank ', 'ü\n']
    const { rows } = await clientOf(handle).query('select unnest($1::text[]) as text', [texts])
    expect(rows.map(({ text }) => text)).toEqual(texts)
    await close()
  })

  describe.each(clients)('wake-ups through $name', ({ open }) => {
    test('another process hears of jobs and of changed configuration', async () => {
      const { subject, schema, close } = await schemas.open()
      const { handle, close: disconnect } = open(url!)
      const other = postgres(handle, { schema })
      let woken = 0
      const changes: Change[] = []
      const stops = [
        await other.queue.onAdded!(() => woken++),
        await other.onChanged!((change) => changes.push(change)),
      ]
      const revision = await made(subject, 'w')
      await subject.endpoints.insert('w', endpoint('ep'))
      await until(() => changes.some((change) => typeof change === 'object' && change.workspaceId === 'w'))
      const now = (await subject.configuration('w'))!.revision // just made
      expect(now).not.toBe(revision)
      await subject.events.ingest([entry('w', now, event('e'), [attempt('a', 'e')])], { enqueue: true })
      await until(() => woken > 0)
      for (const stop of stops) await stop()
      await other.close()
      await disconnect()
      await close()
    })

    test('a lost connection is made again, and then everything may have changed', async () => {
      const { subject, schema, close } = await schemas.open()
      const { handle, close: disconnect } = open(url!)
      const other = postgres(handle, { schema })
      const changes: Change[] = []
      const stop = await other.onChanged!((change) => changes.push(change))
      const killed = await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen "${schema}"%'`,
      )
      expect(killed.rows).toHaveLength(1)
      await until(() => changes.includes('everything'))
      changes.length = 0
      await made(subject, 'w')
      await subject.endpoints.insert('w', endpoint('ep'))
      await until(() => changes.length > 0)
      await stop()
      await other.close()
      await disconnect()
      await close()
    })
  })

  test('a process notifies less often than it adds, in no statement that writes', async () => {
    const { schema, close } = await schemas.open()
    const sent: string[] = []
    const spied = postgres(
      {
        query: (text: string, values: unknown[]) => {
          sent.push(text)
          return pool.query(text, values)
        },
      },
      { schema },
    )
    const add = (i: number) => spied.queue.add([{ id: `j${i}`, workspace: 'w', group: 'g', due_at: 1 }])
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(i)))
    const notifying = sent.filter((text) => text.includes('pg_notify'))
    expect(notifying.length).toBeGreaterThan(0)
    expect(notifying.length).toBeLessThan(20)
    expect(new Set(notifying).size).toBe(1)
    expect(notifying[0]).not.toContain('insert')
    await new Promise((resolve) => setTimeout(resolve, 120))
    await close()
  })

  test('behind a pooler nothing is prepared and nothing is listened to', async () => {
    const { schema, close } = await schemas.open()
    const options: unknown[] = []
    const client = {
      query: (text: string, values: unknown[], given?: { name?: string }) => {
        options.push(given?.name)
        return pool.query(text, values)
      },
      listen: async () => async () => {},
    }
    const storage = postgres(client, { schema, prepare: false })
    await storage.ping()
    await storage.queue.claim(claimOptions({ limit: 1, now: 1 }))
    expect(options.every((name) => name === undefined)).toBe(true)
    expect(storage.onChanged).toBeUndefined()
    expect(storage.queue.onAdded).toBeUndefined()
    await close()
  })

  test('the pool tells its connections', async () => {
    const { subject, close } = await schemas.open()
    const slow = pool.query('select pg_sleep(0.2)')
    await subject.ping()
    const { total, active } = await subject.stats()
    expect(active).toBeGreaterThanOrEqual(1)
    expect(total).toBeGreaterThanOrEqual(active)
    await slow
    await close()
  })
})
