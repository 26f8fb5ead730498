import type { Grant, Limiter, Want } from '../../src/contracts/limiter.ts'
import { applyRateLimit } from '../../src/core/rate-limit.ts'
import { json, number } from '../sql/values.ts'
import type { Database } from './database.ts'
import { type Sql, sql } from '../sql/sql.ts'

/** Longer periods count as this in `applyRateLimit`. */
const maxPeriodSeconds = 1_000_000_000

/**
 * Limits in a schema, one row a key. The statement restates how `applyRateLimit` grants, in the same doubles; what is left
 * afterwards `applyRateLimit` tells from the stored time.
 */
export function postgresLimiter({ run, t }: Database): Limiter {
  return {
    async take(wants, now) {
      const grants = new Map<Want, Grant>()
      // Nothing is granted by quota 0, and no time is stored.
      const waiting = new Set(wants.filter((want) => want.limit.quota > 0))
      while (waiting.size > 0) {
        // A key that is wanted twice is judged twice, one after the other; so is a key whose first row another process
        // wrote.
        const round = new Map<string, Want>()
        for (const want of waiting) if (!round.has(want.key)) round.set(want.key, want)
        for (const row of await run(statement([...round.values()], now))) {
          const want = round.get(row['key'] as string)!
          const after = number(row['after'])
          const { tat, ...rest } = applyRateLimit(after, want.limit, 0, now)
          grants.set(want, { ...rest, granted: number(row['granted']) })
          waiting.delete(want)
        }
      }
      return wants.map((want) => grants.get(want) ?? none(want, now))
    },
  }

  function statement(wants: readonly Want[], now: number): Sql {
    const given = wants.map(({ key, limit, want }) => ({
      key,
      quota: limit.quota,
      period: Math.min(limit.period, maxPeriodSeconds) * 1_000_000,
      want,
      start: now * 1000,
    }))
    return sql`
      with given as materialized (
        select * from jsonb_to_recordset(${json(given)}::text::jsonb)
          as g (key text collate "C", quota float8, period float8, want float8, start float8)
      ),
      locked as materialized (
        select l.key, l.tat from ${t.limits} l join given g on g.key = l.key order by l.key for update of l
      ),
      placed as (
        select g.*, l.key is not null as known, least(greatest(coalesce(l.tat, g.start), g.start), g.start + g.period) as before
        from given g left join locked l on l.key = g.key
      ),
      counted as (
        select *, least(want, floor(((start + period - before) * quota) / period)) as granted from placed
      ),
      judged as materialized (
        select *, before + floor((granted * period) / quota) as after from counted
      ),
      begun as (
        insert into ${t.limits} (key, tat) select key, after from judged where not known and granted > 0 order by key
        on conflict do nothing returning key
      ),
      -- A time that was cut is stored too.
      moved as (
        update ${t.limits} l set tat = j.after from judged j where l.key = j.key and j.known and (j.granted > 0 or l.tat > j.after)
      )
      select j.key, j.granted, j.after from judged j left join begun b on b.key = j.key
      where j.known or j.granted = 0 or b.key is not null`
  }
}

function none({ limit, want }: Want, now: number): Grant {
  const { tat, ...grant } = applyRateLimit(null, limit, want, now)
  return grant
}
