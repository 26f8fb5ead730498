import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { claimOptions } from '../support/claim-options.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')

describe.skipIf(url === null)('what is committed before it is on disk', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 4, options: '-c synchronous_commit=on' }) // skipped where it is null
    schemas = schemasOf(pool)
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  /** What commits of changes of a table wait for. A deferred trigger runs at the commit. */
  async function commitsOf(schema: string, table: 'jobs' | 'messages', work: () => Promise<void>): Promise<unknown> {
    await pool.query(`
      create table ${schema}.commits (operation text, waits text);
      create function ${schema}.note_commit() returns trigger language plpgsql as $$
        begin
          insert into ${schema}.commits values (tg_op, current_setting('synchronous_commit'));
          return null;
        end
      $$;
      create constraint trigger note_commit after insert or update or delete on ${schema}.${table}
        deferrable initially deferred for each row execute function ${schema}.note_commit()`)
    await work()
    const { rows } = await pool.query(`select operation, waits from ${schema}.commits`)
    await pool.query(`drop function ${schema}.note_commit cascade; drop table ${schema}.commits`) // schemas are used again
    return rows
  }

  test('a claim; a new job and the end of a job wait for the disk', async () => {
    const { subject, schema, close } = await schemas.open({ listen: false })
    const commits = await commitsOf(schema, 'jobs', async () => {
      await subject.queue.add([{ id: 'j', workspace: 'w', group: 'g', due_at: 0 }])
      await subject.queue.complete(await subject.queue.claim(claimOptions({ now: 1 })))
    })
    expect(commits).toEqual([
      { operation: 'INSERT', waits: 'on' },
      { operation: 'UPDATE', waits: 'off' },
      { operation: 'DELETE', waits: 'on' },
    ])
    await close()
  })

  test('a take from the inbox and its end, since the event is stored then; a new message waits for the disk', async () => {
    const { subject, schema, close } = await schemas.open({ listen: false })
    const commits = await commitsOf(schema, 'messages', async () => {
      await subject.inbox.put([
        { id: 'm', workspaceId: 'w', event_type: 't', data: '{}', unique_id: null, received_at: 0 },
      ])
      await subject.inbox.done(await subject.inbox.take({ limit: 5, maxBytes: 100, leaseMs: 1000, now: 1 }))
    })
    expect(commits).toEqual([
      { operation: 'INSERT', waits: 'on' },
      { operation: 'UPDATE', waits: 'off' },
      { operation: 'DELETE', waits: 'off' },
    ])
    await close()
  })
})
