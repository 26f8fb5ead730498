import type { ConfigPlan } from '../../src/contracts/storage/configuration.ts'
import type { Kind, Rows } from '../../src/core/row-plan.ts'
import { systemClock } from '../../src/clock.ts'
import { routesOf } from '../../src/core/unique-keys.ts'
import { inSlices } from '../../src/runtime/slices.ts'
import { json } from '../sql/values.ts'
import type { Database } from './database.ts'
import { lockKeysOf, lockQuery } from './locks.ts'
import { nothing, raw, type Sql, sql } from '../sql/sql.ts'

/** What a plan was judged by. The plan is written only if the workspace is still at the revision of that moment. */
export interface Judged {
  /**
   * A query of at most one row: `revision` of the workspace when it was judged, and `endpoints`, `sources`, `plugins` and
   * `patterns`, the counts once the plan was written. Where it has no row, nothing is written.
   */
  readonly judgement: Sql
  /** Ids of rows that the workspace has: a put of such a row updates it, a put of another row inserts it. */
  known(kind: Kind): readonly string[]
}

/** The columns of every kind, and those that are a kind's own, with their types. */
const shared = ['id text', 'name text', 'enabled boolean', 'metadata jsonb', 'created_at bigint', 'updated_at bigint']
const own: Readonly<Record<Kind, readonly string[]>> = {
  endpoints: ['url text', 'patterns integer'],
  sources: [],
  plugins: ['endpoint_id text', 'source_id text'],
}

/** Writes a whole plan in one statement, or writes nothing and answers false. */
export async function writePlan(db: Database, plan: ConfigPlan, { judgement, known }: Judged): Promise<boolean> {
  const { ask, t } = db
  const put = await putParts(db, plan, known)
  // What goes is counted, which makes it go before what comes; unique keys but those of routes are judged at the end.
  const written = await ask(sql`
    with judged as materialized (${judgement}),
    raised as (
      update ${t.workspaces} w set revision = nextval('${t.revision_numbers}'),
        endpoint_count = judged.endpoints, source_count = judged.sources,
        plugin_count = judged.plugins, pattern_count = judged.patterns
      from judged where w.id = ${plan.workspaceId}::text and w.revision = judged.revision
      returning w.key, w.revision
    ),
    locked as materialized (${lockQuery(db, 'rows', lockKeysOf(plan), raw('raised'))}),
    ${removed(db, plan, 'plugins')} ${removed(db, plan, 'endpoints')} ${removed(db, plan, 'sources')}
    freed as (
      delete from ${t.routes} r using raised
      where r.source_id = any(${[...plan.sources.remove, ...plan.sources.put.map(({ id }) => id)]}::text[])
      returning r.method
    ),
    gone as materialized (
      select (select count(*) from gone_plugins) + (select count(*) from gone_endpoints)
        + (select count(*) from gone_sources) + (select count(*) from freed) as rows
    ),
    ${put.endpoints} ${put.sources} ${put.plugins}
    ${touches(plan, 'sources') ? rerouted(db, plan) : nothing}
    done as (select from raised)
    select 1 as done from done`)
  return written.length > 0
}

/** Whether a plan writes or removes a row of a kind. */
export function touches(plan: ConfigPlan, kind: Kind): boolean {
  return plan[kind].put.length + plan[kind].remove.length > 0
}

/** The part that removes rows of a kind. */
function removed({ t }: Database, plan: ConfigPlan, kind: Kind): Sql {
  return sql`
    gone_${raw(kind)} as (
      delete from ${t[kind]} k using raised where k.workspace = raised.key and k.id = any(${plan[kind].remove}::text[])
      returning k.id
    ),`
}

/** The parts that insert rows and update rows, by kind. */
async function putParts(db: Database, plan: ConfigPlan, known: Judged['known']): Promise<Readonly<Record<Kind, Sql>>> {
  return {
    endpoints: await put(db, plan, 'endpoints', known),
    sources: await put(db, plan, 'sources', known),
    plugins: await put(db, plan, 'plugins', known),
  }
}

async function put({ t }: Database, plan: ConfigPlan, kind: Kind, known: Judged['known']): Promise<Sql> {
  if (plan[kind].put.length === 0) return nothing
  const typed = [...shared, ...own[kind], 'document text']
  const columns = typed.map((column) => column.split(' ')[0]!)
  const list = (write: (column: string) => string): Sql => raw(columns.map(write).join(', '))
  const texts: string[] = []
  await inSlices<Rows[Kind]>(systemClock(), plan[kind].put, (row) => {
    const patterns = 'request' in row && { url: row.request.url, patterns: row.events.length }
    texts.push(json({ ...row, ...patterns, document: json(row) }))
  })
  const given = sql`jsonb_to_recordset(${`[${texts.join(',')}]`}::text::jsonb) as g (${raw(typed.join(', '))})`
  const there = known(kind)
  return sql`
    new_${raw(kind)} as (
      insert into ${t[kind]} (workspace, revision, ${list((column) => column)})
      select raised.key, raised.revision, ${list((column) => `g.${column}`)}
      from raised, gone, locked, ${given} where g.id <> all(${there}::text[])
    ),
    changed_${raw(kind)} as (
      update ${t[kind]} k set revision = raised.revision, ${list((column) => `${column} = g.${column}`)}
      from raised, gone, ${given} where k.id = g.id and k.workspace = raised.key and k.id = any(${there}::text[])
    ),`
}

/** The parts that write the routes of sources. */
function rerouted({ t }: Database, plan: ConfigPlan): Sql {
  const routes = plan.sources.put.flatMap((source) =>
    routesOf(source).map((route) => ({ ...route, source_id: source.id })),
  )
  return sql`
    routed as (
      insert into ${t.routes} (path, method, source_id) select sha256(convert_to(g.path, 'UTF8')), g.method, g.source_id
      from raised, gone, locked, jsonb_to_recordset(${json(routes)}::text::jsonb) as g (path text, method text, source_id text)
    ),`
}
