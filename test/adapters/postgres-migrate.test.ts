import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { migrate, migrationSql, postgres } from '../../adapters/postgres/index.ts'
import { migrations } from '../../adapters/postgres/migrations.ts'
import { latestSchemaVersion } from '../../adapters/postgres/verify.ts'
import { endpoint, workspace } from '../../src/testing/storage/rows.ts'
import { freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')

describe.skipIf(url === null)('the schema of PostgreSQL', () => {
  let pool: Pool
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 20 }) // skipped where it is null
  })
  afterAll(() => pool.end())

  test('twenty processes that migrate at once make it once', async () => {
    const schema = freshSchema()
    await Promise.all(Array.from({ length: 20 }, () => migrate(pool, { schema })))
    const { rows } = await pool.query(
      `select version from ${schema}.migrations union all select version from ${schema}.expansions order by version`,
    )
    expect(rows).toEqual(migrations.map(({ version }) => ({ version })))
    await expect(postgres(pool, { schema }).verify()).resolves.toBeUndefined()
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('two schemas of one database know nothing of each other', async () => {
    const [one, other] = [freshSchema(), freshSchema()]
    for (const schema of [one, other]) await migrate(pool, { schema })
    await postgres(pool, { schema: one }).workspaces.insert(workspace('w', { name: 'n' }))
    expect(await postgres(pool, { schema: other }).workspaces.find('n')).toBeNull()
    expect(await postgres(pool, { schema: other }).workspaces.insert(workspace('w', { name: 'n' }))).toBe('written')
    await pool.query(`drop schema ${one} cascade; drop schema ${other} cascade`)
  })

  test('it is made by the text of the migration too, more than once, in a schema that is there already', async () => {
    const schema = freshSchema()
    await pool.query(`create schema ${schema}`)
    const text = migrationSql({ schema })
    expect(text).not.toContain('$schema')
    await pool.query(text)
    await pool.query(text)
    await expect(postgres(pool, { schema }).verify()).resolves.toBeUndefined()
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('a missing one and an older one say to run migrate, a newer one says to update', async () => {
    const schema = freshSchema()
    const storage = postgres(pool, { schema })
    await expect(storage.verify()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('migrate()'),
    })
    await expect(storage.workspaces.get('w')).rejects.toMatchObject({
      code: 'unavailable',
      message: `The schema "${schema}" is missing or old: run migrate()`,
    })
    await migrate(pool, { schema })
    // A step that only adds something is no reason to refuse.
    await pool.query(`insert into ${schema}.expansions values ($1)`, [latestSchemaVersion + 1])
    await storage.verify()
    await migrate(pool, { schema })
    await pool.query(`insert into ${schema}.migrations values ($1)`, [latestSchemaVersion + 1])
    await expect(storage.verify()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('newer'),
    })
    await expect(migrate(pool, { schema })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('newer'),
    })
    await pool.query(`delete from ${schema}.migrations; delete from ${schema}.expansions`)
    await expect(storage.verify()).rejects.toMatchObject({ message: expect.stringContaining('run migrate()') })
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('rows that were there before they were counted are counted by the migration', async () => {
    const schema = freshSchema()
    await migrate(pool, { schema })
    const storage = postgres(pool, { schema })
    await storage.workspaces.insert(workspace('w'))
    await storage.endpoints.insert('w', endpoint('a', { events: ['x', 'y'] }))
    await storage.endpoints.insert('w', endpoint('b', { events: [] }))
    // As it was before version 5.
    await pool.query(`
      alter table ${schema}.endpoints drop column patterns;
      alter table ${schema}.workspaces drop column endpoint_count, drop column source_count, drop column plugin_count,
        drop column pattern_count;
      drop index ${schema}.messages_turn;
      create index messages_order on ${schema}.messages (received_at, id);
      alter table ${schema}.events drop column token;
      drop table ${schema}.notes, ${schema}.minute_sums, ${schema}.hour_sums, ${schema}.day_sums, ${schema}.counted_types,
        ${schema}.streaks, ${schema}.causes, ${schema}.processes, ${schema}.keyed_requests;
      drop view ${schema}.open_anywhere;
      alter table ${schema}.jobs drop column workspace, drop column apart;
      drop table ${schema}.expansions;
      delete from ${schema}.migrations where version > 4;
      insert into ${schema}.migrations values (4)`)
    await migrate(pool, { schema })
    const bounds = { endpoints: 3, sources: 1, plugins: 1, patterns: 3 }
    const three = endpoint('c', { events: ['x', 'y'] })
    expect(await storage.endpoints.insert('w', three, bounds)).toEqual({ kind: 'full', of: 'patterns', max: 3 })
    expect(await storage.endpoints.insert('w', endpoint('c'), bounds)).toBe('written')
    const full = { kind: 'full', of: 'endpoints', max: 3 }
    expect(await storage.endpoints.insert('w', endpoint('d', { events: [] }), bounds)).toEqual(full)
    await pool.query(`drop schema ${schema} cascade`)
  })

  test('its name is a plain identifier, or refused before anything is sent', async () => {
    for (const schema of ['Posthorn', 'a b', 'a"; drop schema public', '', 'pg_x', '1a', 'x'.repeat(60)]) {
      expect(() => postgres(pool, { schema })).toThrow(TypeError)
      await expect(migrate(pool, { schema })).rejects.toThrow(TypeError)
    }
  })
})
