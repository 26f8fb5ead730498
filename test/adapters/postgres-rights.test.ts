import { readFileSync } from 'node:fs'

import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { migrate, postgres } from '../../adapters/postgres/index.ts'
import { grants } from '../../adapters/postgres/rights.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { promises } from '../contract/suite.ts'
import { emptying, freshSchema } from '../support/postgres.ts'

const url = inject('postgresUrl')

test('docs/postgres-roles.md lists the rights', () => {
  const text = readFileSync(new URL('../../docs/postgres-roles.md', import.meta.url), 'utf8')
  for (const statement of grants('posthorn', 'app')) expect(text).toContain(statement)
})

describe.skipIf(url === null)('a role with the rights that are listed, and no others', () => {
  const schema = freshSchema()
  const role = `${schema}_app`
  let admin: Pool
  let app: Pool
  beforeAll(async () => {
    admin = new Pool({ connectionString: url!, max: 5 }) // skipped where it is null
    await migrate(admin, { schema })
    await admin.query(`create role ${role}; ${grants(schema, role).join(' ')}`)
    app = new Pool({ connectionString: url!, max: 10, options: `-c role=${role}` })
  })
  afterAll(async () => {
    await app.end()
    await admin.query(`drop schema ${schema} cascade; drop owned by ${role}; drop role ${role}`)
    await admin.end()
  })
  // One schema for all, so one test after the other.
  const open = async () => ({
    subject: postgres(app, { schema, listen: false }),
    close: async () => void (await admin.query(emptying(schema))),
  })
  const part =
    <Part extends 'queue' | 'inbox' | 'limiter'>(name: Part) =>
    async () => {
      const { subject, close } = await open()
      return { subject: subject[name], close }
    }

  describe('runs the queue', () => promises(queueContract, part('queue')))
  describe('runs the inbox', () => promises(inboxContract, part('inbox')))
  describe('runs the limiter', () => promises(limiterContract, part('limiter')))
  describe('runs the storage', () => promises(storageContract, open))

  test('starts, pings and tidies, and may not change a table', async () => {
    const { subject } = await open()
    await subject.verify()
    await subject.ping()
    expect(await subject.turn('x', 60_000, 1)).toBe(true)
    expect(await subject.purge({ eventsBefore: 1, attemptsBefore: 1, limit: 10 })).toBe(0)
    await expect(app.query(`drop table ${schema}.events`)).rejects.toMatchObject({ code: '42501' })
  })

  test.each([
    ['insert on events', 'revoke insert on $schema.events from $role', 'grant insert on $schema.events to $role'],
    [
      'usage on revision_numbers',
      'revoke usage on sequence $schema.revision_numbers from $role',
      'grant usage on sequence $schema.revision_numbers to $role',
    ],
    ['usage on schema', 'revoke usage on schema $schema from $role', 'grant usage on schema $schema to $role'],
  ])('that lacks %s is told so at the start, and where it is missed', async (what, revoke, grant) => {
    const run = (text: string) => admin.query(text.replaceAll('$schema', schema).replaceAll('$role', role))
    await run(revoke)
    const { subject } = await open()
    const words = what
      .replace('on ', what.endsWith('schema') ? 'on ' : `on ${schema}.`)
      .replace('on schema', `on schema ${schema}`)
    await expect(subject.verify()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`"${role}" lacks ${words}`),
    })
    if (what === 'insert on events') {
      await expect(app.query(`insert into ${schema}.events (id) values ('x')`)).rejects.toThrow('permission denied')
    } else {
      await expect(
        subject.workspaces.insert({
          id: 'w',
          name: null,
          description: null,
          metadata: {},
          created_at: 1,
          updated_at: 1,
          limits: { events_per_second: null, retention_days: null, endpoints: null },
        }),
      ).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('lacks a right: permission denied for'),
      })
    }
    await run(grant)
    await subject.verify()
  })
})
