import { Client, Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import type { PostgresHandle } from '../../adapters/postgres/clients.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { eventsTypeIndexes, leaveBroken, oldSchema } from '../support/broken-index.ts'
import { freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe.skipIf(url === null)('a database whose default isolation is serializable', () => {
  const database = freshSchema()
  const address = new URL(url ?? 'postgres://none')
  address.pathname = database
  let admin: Pool
  beforeAll(async () => {
    admin = new Pool({ connectionString: url!, max: 1 }) // skipped where it is null
    await admin.query(`create database ${database}`)
    await admin.query(`alter database ${database} set default_transaction_isolation = 'serializable'`)
  })
  afterAll(async () => {
    await admin.query(`drop database ${database}`) // waits for connections that are closing
    await admin.end()
  })

  interface Opened {
    readonly handle: PostgresHandle
    close(): Promise<void>
  }
  const drivers: readonly { name: string; open(): Promise<Opened> }[] = [
    {
      name: 'pg',
      async open() {
        const pool = new Pool({ connectionString: address.href, max: 5 })
        pool.on('error', () => {})
        return { handle: pool, close: () => pool.end() }
      },
    },
    {
      name: 'postgres.js',
      async open() {
        const sql = postgresJs(address.href, { max: 5, onnotice: () => {} })
        return { handle: sql, close: () => sql.end({ timeout: 1 }) }
      },
    },
  ]

  test.each(drivers)(
    'through $name all is stored and delivered once, and no call fails',
    { timeout: 60_000 },
    async ({ open }) => {
      const schema = freshSchema()
      const opened = await Promise.all(Array.from({ length: 3 }, open))
      await migrate(opened[0]!.handle, { schema })
      const sent: string[] = []
      const http = {
        send: async ({ body }: { body: string | null }) => {
          sent.push(body ?? '')
          return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
        },
      }
      const all = opened.map(({ handle }) =>
        createPosthorn({ storage: postgres(handle, { schema }), http, logger: quiet }),
      )
      for (let i = 0; i < 10; i++)
        await all[0]!.endpoints.create('default', { request: { url: 'https://a.test/' }, events: [`t${i}`] })
      for (const each of all.slice(1)) await each.start()
      await Promise.all(
        Array.from({ length: 20 }, async (_, k) => {
          for (let i = 0; i < 30; i++) {
            await all[k % 3]!.events.create('default', {
              event_type: `t${i % 10}`,
              data: { k, i },
              ...(i % 2 === 1 && { unique_id: `${k}-${i}` }),
            })
          }
        }),
      )
      await expect.poll(() => sent.length, { timeout: 20_000 }).toBe(600)
      expect(new Set(sent).size).toBe(600)
      await Promise.all(all.map((each) => each.stop()))
      await Promise.all(opened.map(({ close }) => close()))
    },
  )

  // It may be in a transaction of its host, so no isolation is stated through it.
  const client = {
    name: 'a client of pg that is in no pool',
    async open() {
      const handle = new Client({ connectionString: address.href })
      await handle.connect()
      return { handle, close: () => handle.end() }
    },
  }

  test.each([...drivers, client])(
    'through $name processes migrate at once, from nothing and beside an index that was left broken',
    { timeout: 60_000 },
    async ({ open }) => {
      const opened = await Promise.all(Array.from({ length: 3 }, open))
      const own = new Pool({ connectionString: address.href, max: 1 })
      const migrateAtOnce = (schema: string) =>
        Promise.all([...opened, ...opened, ...opened].map(({ handle }) => migrate(handle, { schema })))
      const fresh = freshSchema()
      await migrateAtOnce(fresh)
      await postgres(own, { schema: fresh }).verify()

      const old = await oldSchema(own)
      await leaveBroken(own, old)
      await migrateAtOnce(old)
      expect(await eventsTypeIndexes(own, old)).toEqual([{ name: 'events_type', valid: true }])
      await own.end()
      await Promise.all(opened.map(({ close }) => close()))
    },
  )
})
