import type { ConfigPlan, Violation } from '../../src/contracts/storage/configuration.ts'
import { countsOnceWritten, violationOf } from '../../src/core/configuration-rules.ts'
import type { Database } from './database.ts'
import { isRace } from './errors.ts'
import { lockKeysOf, takeLocks } from './locks.ts'
import type { Notify } from './notify.ts'
import { type PlanContext, readPlanContext } from './plan-context.ts'
import { sql } from '../sql/sql.ts'
import { type Judged, touches, writePlan } from './write-plan.ts'

/** Answers why a plan is not written, by what was seen; null when nothing stands against it. */
export type Refuse<Refusal> = (seen: PlanContext) => Refusal | null

/**
 * Every write of configuration: looks, judges, and writes if the workspace is still at the revision that was looked at;
 * else all over again. When several processes write to the same workspace, one of them succeeds in each round.
 */
export async function change<Refusal>(
  db: Database,
  notify: Notify,
  plan: ConfigPlan,
  refuse: Refuse<Refusal>,
): Promise<'written' | Refusal | Violation> {
  await takeLocks(db, 'rows', lockKeysOf(plan), plan.workspaceId)
  for (;;) {
    const seen = await readPlanContext(db, plan)
    const refusal = refuse(seen) ?? violationOf(plan, seen)
    if (refusal !== null) return refusal
    if (await writeUnlessRaced(db, notify, plan, judgedBy(plan, seen))) return 'written'
  }
}

/** A plan that nothing stands against, by what was seen. */
export function judgedBy(plan: ConfigPlan, seen: PlanContext): Judged {
  const { endpoints, sources, plugins, patterns } = countsOnceWritten(plan, seen)
  return {
    judgement: sql`
      select ${seen.revision}::bigint as revision, ${endpoints}::bigint as endpoints, ${sources}::bigint as sources,
        ${plugins}::bigint as plugins, ${patterns}::bigint as patterns`,
    known: (kind) => [...seen.rows[kind].keys()],
  }
}

/** False when somebody else wrote since the plan was judged: then nothing was written. */
export async function writeUnlessRaced(
  db: Database,
  notify: Notify,
  plan: ConfigPlan,
  judged: Judged,
): Promise<boolean> {
  try {
    if (!(await writePlan(db, plan, judged))) return false
  } catch (error) {
    // Somebody in another workspace took a key since it was looked for.
    if (db.bound || !isRace(error)) throw error
    return false
  }
  await notify({ workspaceId: plan.workspaceId }, ...(touches(plan, 'sources') ? (['routes'] as const) : []))
  return true
}
