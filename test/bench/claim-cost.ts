import { Pool } from 'pg'

import type { Job, Queue } from '../../src/contracts/queue.ts'
import { type Contender, median, quick } from './compare.ts'
import { type Engine, openStorage } from './engines.ts'
import type { Task } from './beside.ts'
import { report, sharedNow } from './listener.ts'

const limit = 20
const cap = 4
const batch = 5000
const warmUps = quick ? 20 : 100
const claims = quick ? 50 : 300

interface Backlog {
  readonly workspaces: number
  readonly groups: number
  /** In each group. */
  readonly due: number
}

/** A claim takes 20 jobs of each: from 20 workspaces, or from five groups of one. First what is just that much. */
const shapes: Readonly<Record<string, { readonly alone: Backlog; readonly beside: Backlog }>> = {
  '10,000 workspaces with due work': {
    alone: { workspaces: limit, groups: 1, due: 1 },
    beside: { workspaces: 10_000, groups: 1, due: 2 },
  },
  'one workspace with 200,000 due jobs in 1,000 groups': {
    alone: { workspaces: 1, groups: limit / cap, due: cap },
    beside: { workspaces: 1, groups: 1000, due: 200 },
  },
}

/** Milliseconds that the middle one of many claims took. */
export type ClaimTimes = Readonly<Record<string, { readonly alone: number; readonly beside: number }>>

/** Times claims of an engine's queue, in turns over queues that hold little and much. What is claimed is given back. */
export function claimsOn(engine: Engine): Contender {
  return async (setting) => {
    const opened: { close(): Promise<void>; times: number[]; queue: Queue; shape: string; size: 'alone' | 'beside' }[] =
      []
    for (const [shape, sizes] of Object.entries(shapes)) {
      for (const size of ['alone', 'beside'] as const) {
        const schema = `${setting.schema}_${opened.length}`
        const { options, close } = await openStorage(engine, { ...setting, schema })
        const queue = options.queue ?? options.storage.queue!
        await fill(queue, sizes[size])
        if (engine === 'postgres') await vacuum(setting.postgres, schema)
        opened.push({ close, times: [], queue, shape, size })
      }
    }
    return {
      async work() {
        for (let i = 0; i < warmUps + claims; i++) {
          for (const { queue, times } of opened) {
            const ms = await timeClaim(queue)
            if (i >= warmUps) times.push(ms)
          }
        }
        const timeOf = (shape: string, size: string): number =>
          median(opened.find((each) => each.shape === shape && each.size === size)!.times) // all were opened
        const times = Object.keys(shapes).map(
          (shape) => [shape, { alone: timeOf(shape, 'alone'), beside: timeOf(shape, 'beside') }] as const,
        )
        const { run } = JSON.parse(setting.data) as Task // as it was given
        await report(setting.url, run, Object.fromEntries(times))
      },
      async close() {
        for (const { close } of opened) await close()
      },
    }
  }
}

async function fill(queue: Queue, { workspaces, groups, due }: Backlog): Promise<void> {
  const since = Date.now() - 3_600_000
  let jobs: Job[] = []
  let made = 0
  for (let n = 0; n < due; n++) {
    for (let group = 0; group < groups; group++) {
      for (let workspace = 0; workspace < workspaces; workspace++) {
        jobs.push({
          id: `att_${String(made).padStart(9, '0')}`,
          workspace: `w${workspace}`,
          group: `w${workspace}.g${group}`,
          due_at: since + made++,
        })
        if (jobs.length < batch) continue
        await queue.add(jobs)
        jobs = []
      }
    }
  }
  if (jobs.length > 0) await queue.add(jobs)
}

async function timeClaim(queue: Queue): Promise<number> {
  const none = new Map<string, number>()
  const nothing = { workspaces: none, groups: none, low: none }
  const startedAt = sharedNow()
  const taken = await queue.claim({
    limit,
    free: 256,
    cap,
    busy: nothing,
    leaveOut: new Set(),
    leaseMs: 30_000,
    now: Date.now(),
  })
  const ms = sharedNow() - startedAt
  if (taken.length !== limit) throw new Error(`a claim took ${taken.length} jobs instead of ${limit}`)
  await queue.release(taken)
  return ms
}

/** As autovacuum does some time after so much was written. */
async function vacuum(url: string, schema: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 })
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [schema],
  )
  for (const { name } of rows) await pool.query(`vacuum analyze ${name}`)
  await pool.end()
}
