import type { ConfigPlan, Violation } from '../../src/contracts/storage/configuration.ts'
import { type Database, json } from './database.ts'
import { isRace } from './errors.ts'
import { readPlanContext } from './plan-context.ts'
import { lockKeysOf, lockQuery, takeLocks } from './locks.ts'
import { countsOnceWritten, routesOf, type PlanContext, violationOf } from './constraints.ts'
import type { Kind } from './rows.ts'
import { nothing, raw, type Sql, sql } from './sql.ts'
import type { Notify } from './notify.ts'

/** Answers why a plan is not written, by what was seen; null when nothing stands against it. */
export type Refuse<Refusal> = (seen: PlanContext) => Refusal | null

/**
 * Every write of configuration: looks, judges, and writes if the workspace is still at the revision that was looked at;
 * else all over again. Of several processes that write to one workspace one comes through in each round.
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
    if (await writeUnlessRaced(db, notify, plan, seen)) return 'written'
  }
}

/** False when somebody else wrote since it was looked: then nothing was written. */
export async function writeUnlessRaced(
  db: Database,
  notify: Notify,
  plan: ConfigPlan,
  seen: PlanContext,
): Promise<boolean> {
  try {
    if (!(await write(db, plan, seen))) return false
  } catch (error) {
    // Somebody in another workspace took a key since it was looked for.
    if (db.bound || !isRace(error)) throw error
    return false
  }
  await notify({ workspaceId: plan.workspaceId }, ...(touches(plan, 'sources') ? (['routes'] as const) : []))
  return true
}

/** The columns of every kind, and those that are a kind's own, with their types. */
const shared = ['id text', 'name text', 'enabled boolean', 'metadata jsonb', 'created_at bigint', 'updated_at bigint']
const own: Readonly<Record<Kind, readonly string[]>> = {
  endpoints: ['url text', 'patterns integer'],
  sources: [],
  plugins: ['endpoint_id text', 'source_id text'],
}

/** False when the workspace is no longer at the revision that was seen: then nothing was written. */
async function write(db: Database, plan: ConfigPlan, seen: PlanContext): Promise<boolean> {
  const { ask, t } = db
  const gone = (kind: Kind): Sql => sql`
    gone_${raw(kind)} as (
      delete from ${t[kind]} k using raised where k.workspace = raised.key and k.id = any(${plan[kind].remove}::text[])
      returning k.id
    ),`

  const put = (kind: Kind): Sql => {
    if (plan[kind].put.length === 0) return nothing
    const typed = [...shared, ...own[kind], 'document text']
    const columns = typed.map((column) => column.split(' ')[0]!)
    const list = (write: (column: string) => string): Sql => raw(columns.map(write).join(', '))
    const rows = plan[kind].put.map((row) => ({
      ...row,
      ...('request' in row && { url: row.request.url, patterns: row.events.length }),
      document: json(row),
    }))
    const given = sql`jsonb_to_recordset(${json(rows)}::text::jsonb) as g (${raw(typed.join(', '))})`
    const known = [...seen.rows[kind].keys()]
    return sql`
    new_${raw(kind)} as (
      insert into ${t[kind]} (workspace, revision, ${list((column) => column)})
      select raised.key, raised.revision, ${list((column) => `g.${column}`)}
      from raised, gone, locked, ${given} where g.id <> all(${known}::text[])
    ),
    changed_${raw(kind)} as (
      update ${t[kind]} k set revision = raised.revision, ${list((column) => `${column} = g.${column}`)}
      from raised, gone, ${given} where k.id = g.id and k.workspace = raised.key and k.id = any(${known}::text[])
    ),`
  }

  const routes = plan.sources.put
    .filter(({ enabled }) => enabled)
    .flatMap((source) => routesOf(source).map((route) => ({ ...route, source_id: source.id })))
  const rerouted = sql`
    routed as (
      insert into ${t.routes} (path, method, source_id) select sha256(convert_to(g.path, 'UTF8')), g.method, g.source_id
      from raised, gone, locked, jsonb_to_recordset(${json(routes)}::text::jsonb) as g (path text, method text, source_id text)
    ),
    rerouted as (update ${t.revisions} r set revision = r.revision + 1 from raised where r.name = 'routes'),`

  const counts = countsOnceWritten(plan, seen)
  // What goes is counted, which makes it go before what comes; unique keys but those of routes are judged at the end.
  const written = await ask(sql`
    with raised as (
      update ${t.workspaces} set revision = nextval('${t.revision_numbers}'),
        endpoint_count = ${counts.endpoints}::bigint, source_count = ${counts.sources}::bigint,
        plugin_count = ${counts.plugins}::bigint, pattern_count = ${counts.patterns}::bigint
      where id = ${plan.workspaceId}::text and revision = ${seen.revision}::bigint
      returning key, revision
    ),
    locked as materialized (${lockQuery(db, 'rows', lockKeysOf(plan), raw('raised'))}),
    ${gone('plugins')} ${gone('endpoints')} ${gone('sources')}
    freed as (
      delete from ${t.routes} r using raised
      where r.source_id = any(${[...plan.sources.remove, ...plan.sources.put.map(({ id }) => id)]}::text[])
      returning r.method
    ),
    gone as materialized (
      select (select count(*) from gone_plugins) + (select count(*) from gone_endpoints)
        + (select count(*) from gone_sources) + (select count(*) from freed) as rows
    ),
    ${put('endpoints')} ${put('sources')} ${put('plugins')} ${touches(plan, 'sources') ? rerouted : nothing}
    done as (select from raised)
    select 1 as done from done`)
  return written.length > 0
}

function touches(plan: ConfigPlan, kind: Kind): boolean {
  return plan[kind].put.length + plan[kind].remove.length > 0
}
