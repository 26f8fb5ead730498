import type { Claim, ClaimOptions } from '../../src/contracts/queue.ts'
import { fromRank } from '../../src/core/job-rank.ts'
import { maxUsualData } from '../../src/core/large-data.ts'
import { maxLoadedBytes } from '../../src/core/loaded-bytes.ts'
import { LostLeases } from '../../src/core/lost-leases.ts'
import { maxFor } from '../../src/core/fair-share.ts'
import { alone } from './claim-alone.ts'
import { asked, type Choice, type Round } from './claim-round.ts'
import { number, numberOrNull, type Row } from '../sql/values.ts'
import { unseen } from './conditions.ts'
import { claimPlans, type Send } from './claim-plans.ts'
import type { Database } from './database.ts'
import { inTurns } from './claim-in-turns.ts'
import { hintsRead, moved } from './claim-moves.ts'
import { giveBackLost } from './release.ts'
import { deliveryOf, loading } from './loading.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'
import { slotsInUse } from './waiting.ts'

// How the tables of the queue are drawn, and why: docs/decisions/queue-tables.md. What makes a claim safe:
//
// - `next_at` of a group is never later than the due time of its oldest waiting job, or a hint of the group says it.
//   Adding jobs writes hints and touches no group: so the host's open transaction holds nothing for which others wait.
// - `ready_at` of a line is never later than that of a group of the workspace, or a hint says it.
// - A claim works the hints it sees into groups and lines. It moves either forward only if it saw the row's latest version:
//   otherwise another claim worked in a hint whose job this claim does not see.
// - A lapsed hold is found by the end of its lease. Then the job's group is a candidate like a group with a due job.
// - Groups are written before lines, both in the order of their keys, so that no two claims lock each other out.
//
// Here and elsewhere `id = any(array(select ...))` stands where a join would do: the planner then reads by index, whatever
// size it took the tables for when it made the plan. `(...) is not true` stands where it would expect too few rows.

/** A claim runs so many statements at most, where the first statement did not look at enough groups. */
const maxRounds = 3
const giveBackEveryMs = 500
/** After so many claims that met only the same workspace, the next claim expects that workspace alone. */
const sameBefore = 4

/** Takes due jobs: see `Queue.claim`. */
export function claimer(db: Database): (options: ClaimOptions) => Promise<readonly Claim[]> {
  let met = 1
  let last: string | null = null
  let same = 0
  const lost = new LostLeases(giveBackEveryMs)
  const withPlan = claimPlans(db)

  /** Notes how many workspaces had jobs, for the next claim to know how far to look. */
  function note(count: number, claims: readonly Claim[]): void {
    met = Math.max(1, count)
    const workspace = claims[0]?.workspace ?? last
    same = count > 1 || workspace !== last ? 0 : same + 1
    last = workspace
  }

  async function claimed(options: ClaimOptions, token: string, send: Send): Promise<readonly Claim[]> {
    const claims: Claim[] = []
    const { loads = false } = options
    const take = async (round: Round, choice: Choice) => {
      const rows = await send(statement(db, round, choice, loads))
      const taken = rows.filter((row) => row['job'] !== null).map((row) => claimOf(row, round.token, loads))
      claims.push(...byLevel(taken, round.used))
      const row = rows[0]! // at least one row
      return { taken, planned: number(row['planned']), met: number(row['met']), until: numberOrNull(row['until']) }
    }

    if (last !== null && same >= sameBefore) {
      const round = asked(options, claims, { token, met: 1, isWide: true })
      const answer = await take(round, alone(db, round, last))
      if (answer.met > 1) same = 0
      else if (answer.taken.length >= answer.planned) return claims
    }
    for (let i = 0; i < maxRounds && claims.length < options.limit; i++) {
      const round = asked(options, claims, { token, met, isWide: i > 0 })
      const { taken, planned, met: count, until } = await take(round, inTurns(db, round))
      if (i === 0) note(count, taken)
      const isWhole = until === null || planned === round.limit || until >= maxFor(round.free - planned)
      if (isWhole && taken.length === planned) break
    }
    return claims
  }

  return async (options) => {
    const { now, leaseMs } = options
    for (const lease of lost.due(now)) await giveBackLost(db, lease)
    const token = `${crypto.randomUUID()}/` // see step 18 of the schema
    try {
      return await withPlan(now, (send) => claimed(options, token, send))
    } catch (cause) {
      lost.add({ token, until: now + leaseMs })
      throw cause
    }
  }
}

/** One statement: hints are read, jobs are chosen and taken, and what is known then is written. */
function statement(db: Database, round: Round, { parts, taken, order, summary }: Choice, loads: boolean): Sql {
  const { now, leaseMs, token } = round
  const maxBytes = unseen(Math.min(maxUsualData, Math.floor(maxLoadedBytes / round.limit)), 'int')
  return sql`
    with ${hintsRead(db)},
    ${slotsInUse(round)}
    ${parts},
    locked_jobs as materialized (${taken}),
    claimed as (
      update ${db.t.jobs} set held_until = ${now + leaseMs}::bigint, token = ${token}::text
      where ctid = any(array(select at from locked_jobs)) returning id
    ),
    -- Not a job that somebody else wrote since this statement began: that job has another place now, and waits.
    taken as materialized (select * from locked_jobs where (id in (select id from claimed)) is true),
    ${moved(db, round)}
    select t.id as job, t.group_id, t.workspace, t.due_at, s.planned, s.met, s.until${loads ? raw(', l.*') : nothing}
    from (${summary}) s left join taken t on true
    ${loads ? sql`left join lateral (${loading(db, raw('t.id'), maxBytes)}) l on true` : nothing}
    order by ${order}`
}

/** Claims that come workspace by workspace, in the order of turns, in the order of their levels. */
function byLevel(claims: readonly Claim[], used: ReadonlyMap<string, number>): readonly Claim[] {
  const levels = new Map<string, number>()
  const levelled = claims.map((each) => {
    const level = (levels.get(each.workspace) ?? used.get(each.workspace) ?? 0) + 1
    levels.set(each.workspace, level)
    return { each, level }
  })
  return levels.size < 2 ? claims : levelled.toSorted((a, b) => a.level - b.level).map(({ each }) => each)
}

function claimOf(row: Row, token: string, loads: boolean): Claim {
  return {
    id: row['job'] as string,
    workspace: row['workspace'] as string,
    group: row['group_id'] as string,
    ...fromRank(number(row['due_at'])),
    token,
    ...(loads && loadedIn(row)),
  }
}

/** The attempt of a job. The caller asks for one whose data is longer than its part of what a claim may answer. */
function loadedIn(row: Row): Pick<Claim, 'delivery'> {
  if (row['id'] === null) return { delivery: null }
  return row['data'] === null ? {} : { delivery: deliveryOf(row) }
}
