import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { PrismaPg } from '@prisma/adapter-pg'
import { type Prisma, PrismaClient } from '@prisma/client'
import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import type { PostgresClient } from '../../adapters/postgres/clients.ts'
import { memory } from '../../adapters/memory/index.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import { type Host, transactionSuite } from './suite.ts'

const throughDrizzle = (tx: Pick<NodePgDatabase, 'execute'>): PostgresClient => ({
  query: (text, values) =>
    tx.execute(
      sql.join(
        text.split(/\$(\d+)/).map((part, i) => (i % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1]))),
      ),
    ),
})
const throughKysely = (tx: Kysely<unknown>): PostgresClient => ({
  query: (text, values) => tx.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, values)),
})
const throughPrisma = (tx: Prisma.TransactionClient): PostgresClient => ({
  query: async (text, values) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }),
})

const hosts: readonly Host[] = [
  {
    name: 'Drizzle',
    async open(url) {
      const pool = new Pool({ connectionString: url, max: 5 })
      const db = drizzle(pool)
      return {
        transaction: (inside) => db.transaction((tx) => inside(throughDrizzle(tx))),
        outside: throughDrizzle(db),
        close: () => pool.end(),
      }
    },
  },
  {
    name: 'Kysely',
    async open(url) {
      const db = new Kysely<unknown>({
        dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 5 }) }),
      })
      return {
        transaction: (inside) => db.transaction().execute((tx) => inside(throughKysely(tx))),
        outside: throughKysely(db),
        close: () => db.destroy(),
      }
    },
  },
  {
    name: 'Prisma',
    async open(url) {
      const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 5 }) })
      return {
        transaction: (inside) => prisma.$transaction((tx) => inside(throughPrisma(tx)), { timeout: 20_000 }),
        outside: throughPrisma(prisma),
        close: () => prisma.$disconnect(),
      }
    },
  },
]

for (const host of hosts) transactionSuite(host)

test('what these libraries call their transactions is refused where a wrapper is due', async () => {
  const pool = new Pool({ connectionString: inject('postgresUrl') ?? '', max: 1 })
  const storage = postgres(pool)
  const refused = expect.objectContaining({ code: 'transaction_required' })
  expect(() => storage.using(drizzle(pool))).toThrow(refused)
  expect(() => storage.using(new Kysely({ dialect: new PostgresDialect({ pool }) }))).toThrow(refused)
  expect(() => memory().using?.(drizzle(pool))).toThrow(refused)
  await pool.end()
})

describe.skipIf(inject('postgresUrl') === null)('the example for', () => {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const url = new URL(inject('postgresUrl') ?? 'postgres://none')
  const admin = new Pool({ connectionString: url.href, max: 1 })
  beforeAll(() => {
    // They import the built package by its name, and the libraries that are installed here.
    if (!existsSync(`${here}node_modules/posthorn`)) symlinkSync('../../..', `${here}node_modules/posthorn`)
    mkdirSync(`${here}.build`, { recursive: true })
  })
  afterAll(() => admin.end())

  test.each(['drizzle', 'kysely', 'prisma'])(
    '%s writes an order and its event together or not at all',
    async (name) => {
      const database = `${name}_${process.pid}`
      await admin.query(`create database ${database}`)
      url.pathname = `/${database}`
      copyFileSync(`${here}../../.build/examples/${name}.js`, `${here}.build/${name}.js`)
      const env = { ...process.env, DATABASE_URL: url.href }
      const { stdout } = await promisify(execFile)(process.execPath, [`${here}.build/${name}.js`], { env })
      expect(stdout.trim().split('\n').at(-1)).toBe('events: 1')
      expect(stdout.trim().split('\n').length).toBeGreaterThan(1)
      await admin.query(`drop database ${database} with (force)`)
    },
  )
})
