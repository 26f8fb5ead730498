import type { ConfigPlan, Configuration, Violation } from '../contracts/storage/configuration.ts'
import type { SyncCounts, SyncReport } from '../schema/config.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import { type Disabling, writtenEndpoint } from './endpoint-row.ts'
import { sameJson } from './same-json.ts'
import { type Key, keysOf } from './unique-keys.ts'

/** A row as a document wants it. `existing` is the row that it means, whose id and creation stay. */
export interface Desired<Row> {
  readonly id: string | null
  readonly existing: Row | null
  readonly fields: Omit<Row, 'id' | 'created_at' | 'updated_at' | keyof Disabling>
}

/** The same of a plugin, whose owner is the row around it. */
export interface DesiredPlugin extends Omit<Desired<Plugin>, 'fields'> {
  readonly fields: Omit<Desired<Plugin>['fields'], 'endpoint_id' | 'source_id'>
}

export interface DesiredOwner<Row> extends Desired<Row> {
  readonly plugins: readonly DesiredPlugin[]
}

/** The state that a document describes; null for a kind that the document does not name. */
export interface DesiredConfiguration {
  readonly endpoints: readonly DesiredOwner<Endpoint>[] | null
  readonly sources: readonly DesiredOwner<Source>[] | null
}

interface Named {
  readonly id: string | null
  readonly name: string | null
}

/**
 * The rows that the entries of a document mean: the row with the id of the entry, else the row with the name of the entry,
 * else null: a new row. Where an entry names a row by id, another entry with another id may take the name of that row.
 * `repeated`: entries that mean the same row as an earlier entry.
 */
export function identify<Row extends Named>(
  rows: readonly Row[],
  entries: readonly Named[],
): { readonly meant: readonly (Row | null)[]; readonly repeated: ReadonlySet<number> } {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byName = new Map(rows.map((row) => [row.name, row]))
  const ids = new Set(entries.map(({ id }) => id))
  const rowNamed = (name: string, id: string | null) => {
    const row = byName.get(name)
    return row !== undefined && id !== null && ids.has(row.id) ? undefined : row
  }
  const seen = new Set<Row | string>()
  const repeated = new Set<number>()
  const meant = entries.map(({ id, name }, position) => {
    const row = (id === null ? undefined : byId.get(id)) ?? (name === null ? undefined : rowNamed(name, id)) ?? null
    // A new row is known by its id; without an id, by its name.
    const identity = row ?? (id === null ? `name ${name}` : `id ${id}`)
    if (seen.has(identity)) repeated.add(position)
    seen.add(identity)
    return row
  })
  return { meant, repeated }
}

/**
 * What must be written so that a workspace becomes what a document describes, and how many rows that changes. A kind
 * that the document names is replaced whole, with the plugins of its rows; a row that would stay the same is not
 * written. Answers the first violation that the new state of the workspace alone can show. There may be thousands of rows: it
 * may pause wherever it yields.
 */
export function* planConfig(
  current: Configuration,
  desired: DesiredConfiguration,
  now: number,
  newId: () => string,
): Generator<
  undefined,
  { readonly plan: ConfigPlan; readonly report: SyncReport } | { readonly violation: Violation }
> {
  const make = { now, newId }
  const workspaceId = current.workspace.id
  const endpoints = yield* planRows(rowsOf(current.endpoints), desired.endpoints, make, writtenEndpoint)
  const sources = yield* planRows(rowsOf(current.sources), desired.sources, make)

  // Plugins of owners that the document does not speak of stay as they are.
  const spokenOf = rowsOf(current.plugins).filter(({ endpoint_id }) =>
    endpoint_id === null ? desired.sources !== null : desired.endpoints !== null,
  )
  const plugins = yield* planRows(
    spokenOf,
    [
      ...ownedPlugins(desired.endpoints, endpoints.after, (id) => ({ endpoint_id: id, source_id: null })),
      ...ownedPlugins(desired.sources, sources.after, (id) => ({ endpoint_id: null, source_id: id })),
    ],
    make,
  )

  const spoken = new Set(spokenOf)
  const untouched = rowsOf(current.plugins).filter((row) => !spoken.has(row))
  const violation =
    (yield* repeatedKey(endpoints.after, (row) => keysOf(workspaceId, 'endpoints', row))) ??
    (yield* repeatedKey(sources.after, (row) => keysOf(workspaceId, 'sources', row))) ??
    (yield* repeatedKey([...untouched, ...plugins.after], ({ id }) => [{ id }]))
  if (violation !== null) return { violation }

  return {
    plan: { workspaceId, endpoints: endpoints.change, sources: sources.change, plugins: plugins.change },
    report: { endpoints: endpoints.counts, sources: sources.counts, plugins: plugins.counts },
  }
}

function rowsOf<Row>(stored: readonly { readonly row: Row }[]): readonly Row[] {
  return stored.map(({ row }) => row)
}

interface Planned<Row> {
  readonly change: { readonly put: Row[]; readonly remove: string[] }
  readonly counts: SyncCounts
  /** The rows as they will be, in the order in which they are desired. */
  readonly after: readonly Row[]
}

function* planRows<Row extends { readonly id: string; readonly created_at: number; readonly updated_at: number }>(
  rows: readonly Row[],
  desired: readonly Desired<Row>[] | null,
  { now, newId }: { now: number; newId: () => string },
  written: (row: Row, before: Row | null) => Row = (row) => row,
): Generator<undefined, Planned<Row>> {
  if (desired === null) {
    return {
      change: { put: [], remove: [] },
      counts: { created: 0, updated: 0, deleted: 0, unchanged: 0 },
      after: rows,
    }
  }
  const put: Row[] = []
  let created = 0
  let unchanged = 0
  const after: Row[] = []
  for (const { id, existing, fields } of desired) {
    yield
    if (existing !== null && sameJson(fields, without(existing))) {
      unchanged++
      after.push(existing)
      continue
    }
    if (existing === null) created++
    const own = {
      id: existing?.id ?? id ?? newId(),
      ...fields,
      created_at: existing?.created_at ?? now,
      updated_at: now,
    } as unknown as Row // the fields are the row's without these three and what `written` adds
    const row = written(own, existing)
    put.push(row)
    after.push(row)
  }
  const kept = new Set(desired.map(({ existing }) => existing))
  const gone = rows.filter((row) => !kept.has(row))
  // A new row may take the id of a row that goes: then the new row replaces the old row.
  const taken = new Set(put.map(({ id }) => id))
  return {
    change: { put, remove: gone.map(({ id }) => id).filter((id) => !taken.has(id)) },
    counts: { created, updated: put.length - created, deleted: gone.length, unchanged },
    after,
  }
}

function ownedPlugins<Row extends { readonly id: string }>(
  owners: readonly DesiredOwner<Row>[] | null,
  rows: readonly Row[],
  ownerIds: (id: string) => { endpoint_id: string | null; source_id: string | null },
): Desired<Plugin>[] {
  if (owners === null) return []
  return owners.flatMap(({ plugins }, i) =>
    plugins.map(({ id, existing, fields: { name, enabled, config, metadata } }) => ({
      id,
      existing,
      // rows[i] is what owners[i] becomes
      fields: { name, enabled, ...ownerIds(rows[i]!.id), config, metadata },
    })),
  )
}

function* repeatedKey<Row>(
  rows: readonly Row[],
  keysIn: (row: Row) => readonly Key[],
): Generator<undefined, Violation | null> {
  const seen = new Set<string>()
  for (const row of rows) {
    yield
    for (const key of keysIn(row)) {
      const text = JSON.stringify(key)
      if (seen.has(text)) return { kind: 'unique', key }
      seen.add(text)
    }
  }
  return null
}

function without({
  id: _id,
  created_at: _created,
  updated_at: _updated,
  disabled_at: _at,
  disabled_reason: _reason,
  disabled_detail: _detail,
  ...fields
}: {
  readonly id: string
  readonly created_at: number
  readonly updated_at: number
} & Partial<Disabling>): object {
  return fields
}
