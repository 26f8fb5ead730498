import { Pool } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { clientOf } from '../../adapters/postgres/client-of.ts'
import type { PostgresHandle } from '../../adapters/postgres/clients.ts'
import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { createPosthorn } from '../../adapters/node/index.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { promises } from '../contract/suite.ts'
import { describePgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { freshSchema, schemasOf } from '../support/postgres.ts'

const server = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const order = (id: number) => ({ event_type: 'order.created', data: { id } })

/** Drivers as a host sets them up behind a pooler. `transaction` commits what runs inside, or rolls back when it throws. */
const drivers = [
  {
    name: 'pg',
    open(url: string) {
      const pool = new Pool({ connectionString: url, max: 20 })
      return {
        handle: pool as PostgresHandle,
        async transaction(inside: (tx: unknown) => Promise<unknown>) {
          const client = await pool.connect()
          try {
            await client.query('begin')
            await inside(client)
            await client.query('commit')
          } catch (error) {
            await client.query('rollback')
            throw error
          } finally {
            client.release()
          }
        },
        close: () => pool.end(),
      }
    },
  },
  {
    name: 'postgres.js',
    open(url: string) {
      const sql = postgresJs(url, { max: 20, prepare: false, onnotice: () => {} })
      return {
        handle: sql as PostgresHandle,
        async transaction(inside: (tx: unknown) => Promise<unknown>) {
          await sql.begin((tx) => inside(tx))
        },
        close: () => sql.end({ timeout: 1 }),
      }
    },
  },
]

describePgbouncer(server)('behind PgBouncer in transaction mode', () => {
  let pgbouncer: Awaited<ReturnType<typeof startPgbouncer>>
  beforeAll(async () => {
    pgbouncer = await startPgbouncer(server!, { servers: 5 }) // skipped where it is null
  })
  afterAll(() => pgbouncer.stop())

  describe('everything that is promised of', () => {
    let opened: ReturnType<(typeof drivers)[number]['open']>
    let schemas: ReturnType<typeof schemasOf>
    beforeAll(() => {
      opened = drivers[0]!.open(pgbouncer.url)
      schemas = schemasOf(opened.handle)
    })
    afterAll(async () => {
      await schemas.drop()
      await opened.close()
    })
    const unprepared = () => schemas.open({ prepare: false })
    const part =
      <Part extends 'queue' | 'inbox' | 'limiter'>(name: Part) =>
      async () => {
        const { subject, close } = await unprepared()
        return { subject: subject[name], close }
      }
    describe('its queue', () => promises(queueContract, part('queue')))
    describe('its inbox', () => promises(inboxContract, part('inbox')))
    describe('its limiter', () => promises(limiterContract, part('limiter')))
    describe('its storage', () => promises(storageContract, unprepared))
  })

  test.each(drivers)(
    'through $name two workers deliver what is published, in transactions or not, each once',
    { timeout: 60_000 },
    async ({ open }) => {
      const { handle, transaction, close } = open(pgbouncer.url)
      const schema = freshSchema()
      await migrate(handle, { schema })
      const sent: string[] = []
      const http = {
        send: async ({ body }: { body: string | null }) => {
          sent.push(body ?? '')
          return { kind: 'response', status: 200, headers: {}, body: '', ended: true } as const
        },
      }
      const process = () =>
        createPosthorn({ storage: postgres(handle, { schema, prepare: false }), http, logger: quiet })
      const [one, two] = [process(), process()]
      await one.endpoints.create('default', { request: { url: 'https://shop.test/' }, events: ['*'] })
      await Promise.all([one.start(), two.start()])
      const ids = Array.from({ length: 100 }, (_, i) => i)
      await Promise.all(
        ids.map(async (id) => {
          if (id % 2 === 0) {
            await one.events.create('default', order(id))
            return
          }
          const host = transaction(async (tx) => {
            await two.using(tx).events.create('default', order(id))
            if (id % 5 === 0) throw new Error('the host gives up')
          })
          await host.catch(() => {})
        }),
      )
      const committed = ids.filter((id) => id % 2 === 0 || id % 5 !== 0).map((id) => `{"id":${id}}`)
      await expect.poll(() => sent.toSorted(), { timeout: 20_000 }).toEqual(committed.toSorted())
      await Promise.all([one.stop(), two.stop()])
      expect(sent).toHaveLength(committed.length)
      await clientOf(handle).query(`drop schema ${schema} cascade`, [])
      await close()
    },
  )
})
