import type { Bounds, ConfigPlan } from '../../src/contracts/storage/configuration.ts'
import type { Surroundings } from '../../src/core/configuration-rules.ts'
import { type Kind, kinds } from '../../src/core/row-plan.ts'
import { type Key, keysOf, keyText } from '../../src/core/unique-keys.ts'
import { json, number, type Row } from '../sql/values.ts'
import type { Database } from './database.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'

/** What a plan is judged by, as of one moment. */
export interface PlanContext extends Surroundings {
  /** The workspace's revision; null when the workspace does not exist. */
  readonly revision: number | null
  /** Rows that the plan names, by id; `isOwn`: a row of the workspace. */
  readonly rows: Readonly<Record<Kind, ReadonlyMap<string, PlanContextRow>>>
}

export interface PlanContextRow {
  readonly isOwn: boolean
  readonly revision: number
  /** Event patterns of an endpoint; 0 of others. */
  readonly patterns: number
}

/** Reads what a plan is judged by, in one statement. */
export async function readPlanContext(db: Database, plan: ConfigPlan): Promise<PlanContext> {
  return planContextOf(await db.run(contextQuery(db, plan)))
}

function contextQuery({ t }: Database, plan: ConfigPlan): Sql {
  const { workspaceId, endpoints, sources, plugins } = plan
  const keys = kinds.flatMap((kind) =>
    plan[kind].put.flatMap((row) => keysOf(workspaceId, kind, row).map((key) => ({ kind, ...key }))),
  )
  const ids: Record<Kind, readonly string[]> = {
    endpoints: [...named(endpoints), ...plugins.put.flatMap((plugin) => plugin.endpoint_id ?? [])],
    sources: [...named(sources), ...plugins.put.flatMap((plugin) => plugin.source_id ?? [])],
    plugins: named(plugins),
  }
  const seen = (kind: Kind): Sql => sql`
    select 'row' as what, ${kind}::text as kind, k.id, k.workspace = here.key as is_own, k.revision,
      ${kind === 'endpoints' ? raw('to_jsonb(k.patterns)') : raw('null::jsonb')} as key
    from ${t[kind]} k left join here on true where k.id = any(${ids[kind]}::text[])`
  return sql`
    with here as materialized (select * from ${t.workspaces} where id = ${workspaceId}::text),
    wanted as materialized (
      select *, to_jsonb(k) - 'kind' as key from jsonb_to_recordset(${json(keys)}::text::jsonb)
        as k (kind text, ws_id text, name text, endpoint_id text, source_id text, method text, path text)
    )
    select 'here' as what, null as kind, null as id, true as is_own, revision,
      jsonb_build_object('endpoints', endpoint_count, 'sources', source_count, 'plugins', plugin_count, 'patterns', pattern_count)
        as key
    from here
    union all ${seen('endpoints')} union all ${seen('sources')} union all ${seen('plugins')}
    union all
    select 'holder', k.kind, e.id, true, e.revision, k.key
    from wanted k cross join here join ${t.endpoints} e on e.workspace = here.key and e.name = k.name
    where k.kind = 'endpoints'
    union all
    select 'holder', k.kind, s.id, true, s.revision, k.key
    from wanted k cross join here join ${t.sources} s on s.workspace = here.key and s.name = k.name
    where k.kind = 'sources'
    union all
    select 'holder', k.kind, s.id, s.workspace = here.key, s.revision, k.key
    from wanted k cross join here
    join ${t.routes} r on r.path = sha256(convert_to(k.path, 'UTF8')) and r.method = k.method
    join ${t.sources} s on s.id = r.source_id
    union all
    select 'holder', k.kind, p.id, p.workspace = here.key, p.revision, k.key
    from wanted k cross join here join ${t.plugins} p on p.endpoint_id = k.endpoint_id and p.name = k.name
    union all
    select 'holder', k.kind, p.id, p.workspace = here.key, p.revision, k.key
    from wanted k cross join here join ${t.plugins} p on p.source_id = k.source_id and p.name = k.name
    union all
    select 'orphan', 'plugins', p.id, true, p.revision, null
    from here join ${t.plugins} p on p.workspace = here.key
    where p.endpoint_id = any(${endpoints.remove}::text[]) or p.source_id = any(${sources.remove}::text[])`
}

function planContextOf(rows: readonly Row[]): PlanContext {
  const of = (what: string): readonly Row[] => rows.filter((row) => row['what'] === what)
  const there = (kind: Kind) =>
    new Map(
      of('row')
        .filter((row) => row['kind'] === kind)
        .map((row): [string, PlanContextRow] => [
          row['id'] as string,
          { isOwn: row['is_own'] === true, revision: number(row['revision']), patterns: number(row['key'] ?? 0) },
        ]),
    )
  const here = of('here')[0]
  const known = { endpoints: there('endpoints'), sources: there('sources'), plugins: there('plugins') }
  const holders = new Map(
    of('holder').map((row) => [
      keyText(row['kind'] as Kind, keyOf(row['key'])),
      row['is_own'] === true ? (row['id'] as string) : null,
    ]),
  )
  return {
    revision: here === undefined ? null : number(here['revision']),
    rows: known,
    rowOf(kind, id) {
      const row = known[kind].get(id)
      return row === undefined ? 'none' : row.isOwn ? 'this' : 'other'
    },
    holderOf: (kind, key) => holders.get(keyText(kind, key)),
    orphans: new Set(of('orphan').map((row) => row['id'] as string)),
    counts: (here?.['key'] as Bounds | undefined) ?? { endpoints: 0, sources: 0, plugins: 0, patterns: 0 },
    patternsOf(id) {
      const row = known.endpoints.get(id)
      return row?.isOwn === true ? row.patterns : 0
    },
  }
}

function named({ put, remove }: { put: readonly { id: string }[]; remove: readonly string[] }): string[] {
  return [...put.map(({ id }) => id), ...remove]
}

/** The parts of a key that exist. */
function keyOf(parts: unknown): Key {
  const all = parts as Readonly<Record<string, string | null>> // of texts, by the statement
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}
