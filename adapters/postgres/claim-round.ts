import type { Claim, ClaimOptions } from '../../src/contracts/queue.ts'
import type { Sql } from '../sql/sql.ts'
import { json } from '../sql/values.ts'

/** The most jobs and groups of all workspaces together that a statement looks at, unless more are asked for. */
const minLooks = 128
/** Lines and groups that are looked at beyond the limit, since some turn out to have nothing, or something later. */
const spare = 4

/** Clocks of processes differ: a workspace that was served a moment ahead is still in line. */
export const skewMs = 1000
/** When a workspace was served is remembered for so long. */
export const servedForMs = 3_600_000

/** What one statement of a claim shall find. */
export interface Round extends Pick<ClaimOptions, 'limit' | 'free' | 'cap' | 'leaseMs' | 'now'> {
  readonly token: string
  /** Slots in use by workspaces, jobs that this claim has taken before included. */
  readonly used: ReadonlyMap<string, number>
  /** The same as JSON, and that of groups that have room still. */
  readonly workspaces: string
  readonly groups: string
  /** Slots that groups use for jobs of low priority, as JSON. */
  readonly low: string
  /** Groups that may give nothing. */
  readonly closed: readonly string[]
  /** How many lines are looked at, and how many groups and jobs of each. */
  readonly lines: number
  readonly groupsEach: number
  readonly jobsEach: number
}

/** The parts of a statement that choose jobs. */
export interface Choice {
  /** The parts of a `with`. Among them is `head`: the groups that were looked at, each with its oldest due job. */
  readonly parts: Sql
  /** A query of the jobs, which locks them. */
  readonly taken: Sql
  readonly order: Sql
  /** A query of one row: jobs that were to be taken, workspaces that were met, and the level up to which all is known. */
  readonly summary: Sql
}

/**
 * What is still to be asked for, after `claims`. `met`: how many workspaces may have jobs; `isWide`: a single workspace
 * may have all the jobs.
 */
export function asked(
  { limit, free, cap, busy, leaveOut, leaseMs, now }: ClaimOptions,
  claims: readonly Claim[],
  { token, met, isWide }: { token: string; met: number; isWide: boolean },
): Round {
  const used = counted(busy.workspaces, claims, 'workspace')
  const closed = [...leaveOut]
  const partly: [string, number][] = []
  for (const [group, slots] of counted(busy.groups, claims, 'group')) {
    if (slots < cap) partly.push([group, slots])
    else if (!leaveOut.has(group)) closed.push(group)
  }
  const low = counted(
    busy.low,
    claims.filter(({ priority }) => priority === 'low'),
    'group',
  )
  const left = limit - claims.length
  const each = isWide ? left + spare : Math.max(2, Math.ceil(Math.max(minLooks, 3 * left) / met))
  return {
    limit: left,
    free: free - claims.length,
    cap,
    leaseMs,
    now,
    token,
    used,
    workspaces: json(Object.fromEntries([...used].filter(([, slots]) => slots > 0))),
    groups: json(Object.fromEntries(partly)),
    low: json(Object.fromEntries([...low].filter(([, slots]) => slots !== 0))),
    closed,
    lines: left + spare,
    groupsEach: Math.min(left + spare, each),
    jobsEach: each,
  }
}

function counted(busy: ReadonlyMap<string, number>, claims: readonly Claim[], what: 'workspace' | 'group') {
  if (claims.length === 0) return busy
  const counts = new Map(busy)
  for (const claim of claims) counts.set(claim[what], (counts.get(claim[what]) ?? 0) + 1)
  return counts
}
