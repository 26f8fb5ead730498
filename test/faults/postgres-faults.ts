import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { postgres } from '../../adapters/postgres/index.ts'
import { latestSchemaVersion } from '../../adapters/postgres/verify.ts'
import { until } from './report.ts'
import type { Fault } from './trial.ts'

const patienceMs = 30_000

export const restart: Fault = {
  name: 'server crashes and comes back',
  async strike({ server, lastsMs, health, publish }) {
    await server.crash()
    publish()
    await until('health is DOWN', patienceMs, async () => (await health()) === 'DOWN')
    await sleep(lastsMs)
    await server.start()
  },
}

export const terminated: Fault = {
  name: 'connections killed at random',
  async strike({ operator, schema, lastsMs, publish }) {
    publish()
    for (const until = Date.now() + lastsMs; Date.now() < until; await sleep(50)) {
      await operator.query(
        `select pg_terminate_backend(pid) from (
           select pid from pg_stat_activity where application_name = $1 order by random() limit 2
         ) unlucky`,
        [schema],
      )
    }
  },
}

/** As after a failover whose old primary is a standby now: reads are answered, writes are not. */
export const readOnly: Fault = {
  name: 'server takes no writes',
  async strike({ operator, schema, lastsMs, publish, health }) {
    const client = await operator.connect()
    await client.query('set default_transaction_read_only = off')
    // New connections alone obey.
    const turn = async (on: 'on' | 'off'): Promise<void> => {
      await client.query(`alter database postgres set default_transaction_read_only = ${on}`)
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [schema])
    }
    await turn('on')
    publish()
    await until('health is DOWN', patienceMs, async () => (await health()) === 'DOWN')
    await sleep(lastsMs)
    await turn('off')
    client.release()
  },
}

export const exhausted: Fault = {
  name: 'pool exhausted by the host',
  async strike({ pools, lastsMs, publish }) {
    publish()
    const taken = await Promise.all(
      pools.flatMap((pool) => Array.from({ length: pool.options.max - 1 }, () => pool.connect())),
    )
    await sleep(lastsMs)
    for (const client of taken) client.release()
  },
}

export const timeouts: Fault = {
  name: 'statements time out on a lock',
  settings: { statement_timeout: '250' },
  async strike({ operator, schema, lastsMs, publish }) {
    publish()
    const client = await operator.connect()
    await client.query('begin')
    await client.query(`lock table ${schema}.outcomes, ${schema}.events in access exclusive mode`)
    await sleep(lastsMs)
    await client.query('commit')
    client.release()
  },
}

export const serializable: Fault = {
  name: 'serialization failures',
  settings: { default_transaction_isolation: 'serializable' },
  async strike({ lastsMs, publish }) {
    publish()
    await sleep(lastsMs)
  },
}

export const clocks: Fault = {
  name: 'clocks ten minutes apart',
  skewMs: [300_000, -300_000],
  async strike({ lastsMs, publish }) {
    publish()
    await sleep(lastsMs)
  },
}

/** What a later version may do to the schema while this one works on it: additions, in one transaction. */
export const migrated: Fault = {
  name: 'schema migrated meanwhile',
  async strike({ operator, schema, lastsMs, publish }) {
    publish()
    const statement = `do $$ begin
      alter table ${schema}.events add column region text;
      alter table ${schema}.attempts add column note text;
      alter table ${schema}.jobs add column priority smallint not null default 0;
      create table ${schema}.labels (id text primary key);
      create index events_region on ${schema}.events (region) where region is not null;
      insert into ${schema}.migrations (version) values (${latestSchemaVersion + 1});
    end $$`
    // What meets it may lock it out. `migrate` tries again then, too.
    const made = (): Promise<boolean> =>
      operator.query(statement).then(
        () => true,
        (error: { code?: unknown }) => {
          if (error.code !== '40P01') throw error
          return false
        },
      )
    await until('the schema is migrated', patienceMs, made)
    // Those that run go on; one of this version that starts now says that it is too old.
    const refusal = await postgres(operator, { schema })
      .verify()
      .then(
        () => 'none',
        (error: Error) => error.message,
      )
    if (!refusal.includes('newer version')) throw new Error(`an older version was not refused: ${refusal}`)
    await sleep(lastsMs)
  },
}

/** Tables in a small file system of their own, which has to hold more than the fault's events. Null where none may be mounted. */
export function fullDisk(mebibytes: number): Fault | null {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-disk-'))
  const mount = (options: string) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' })
  let mounted = true
  const unmount = () => {
    if (!mounted) return
    mounted = false
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    mount(`size=${mebibytes}m`)
  } catch {
    rmSync(folder, { recursive: true, force: true })
    return null
  }
  process.once('exit', unmount)
  return {
    name: 'disk full',
    bytes: 3000,
    async prepare({ user }, operator) {
      if (user !== null) chownSync(folder, user.uid, user.gid)
      await operator.query(`create tablespace small location '${folder}'`)
      return { default_tablespace: 'small' }
    },
    async strike({ operator, schema, lastsMs, publish, refusals }) {
      await operator.query(`create table ${schema}.filler (data text) tablespace small`)
      await operator.query(`alter table ${schema}.filler alter column data set storage external`)
      const filled = (bytes: number): Promise<boolean> =>
        operator.query(`insert into ${schema}.filler values (repeat('x', $1))`, [bytes]).then(
          () => false,
          (error: { code?: unknown }) => error.code === '53100',
        )
      for (const bytes of [1_000_000, 5000]) {
        await until('the disk is full', patienceMs, async () => await filled(bytes))
      }
      const before = refusals()
      publish()
      await until('a publisher is refused', patienceMs, () => refusals() > before)
      // What vacuuming gives back is filled again, so that the disk stays full.
      for (const endsAt = Date.now() + lastsMs; Date.now() < endsAt; await sleep(20)) await filled(5000)
      execFileSync('mount', ['-o', 'remount,size=2g', folder])
    },
    async after() {
      process.off('exit', unmount)
      unmount()
    },
  }
}
