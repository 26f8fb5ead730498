import type { ConfigDocument } from 'posthorn'

/** What a sync does to one row. */
export interface RowChange {
  readonly change: 'created' | 'updated' | 'deleted'
  readonly kind: 'endpoint' | 'source' | 'plugin'
  /** Name and id; of a new row the name alone; of a plugin the owner too. */
  readonly row: string
  /** Of an updated row: the fields that differ, `request.url: "a" -> "b"`. Values that may be secret are left out. */
  readonly fields: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>
interface Row extends Fields {
  readonly id?: string | null
  readonly name?: string | null
  readonly plugins?: readonly Row[] | null
}

/** The rows that differ between two whole documents, as `config.dump` writes them: before a sync and after it. */
export function difference(before: ConfigDocument, after: ConfigDocument): RowChange[] {
  // Entries hold JSON alone.
  const rows = (document: ConfigDocument, kind: 'endpoints' | 'sources') =>
    (document[kind] ?? []) as object as readonly Row[]
  return [
    ...rowChanges('endpoint', rows(before, 'endpoints'), rows(after, 'endpoints')),
    ...rowChanges('source', rows(before, 'sources'), rows(after, 'sources')),
  ]
}

function rowChanges(kind: 'endpoint' | 'source', before: readonly Row[], after: readonly Row[]): RowChange[] {
  const old = new Map(before.map((row) => [row.id, row]))
  const kept = new Set(after.map(({ id }) => id))
  const put = after.flatMap((row) => {
    const was = old.get(row.id)
    const title = titleOf(row, was === undefined)
    const plugins = pluginChanges(title, was?.plugins ?? [], row.plugins ?? [])
    return [...changesOf(kind, title, was, row), ...plugins]
  })
  const gone = before
    .filter(({ id }) => !kept.has(id))
    .flatMap((row) => {
      const title = titleOf(row)
      return [
        { change: 'deleted' as const, kind, row: title, fields: [] },
        ...pluginChanges(title, row.plugins ?? [], []),
      ]
    })
  return [...put, ...gone]
}

function pluginChanges(owner: string, before: readonly Row[], after: readonly Row[]): RowChange[] {
  const named = (rows: readonly Row[], name: unknown) => rows.find((row) => row.name === name)
  const titleOfPlugin = ({ name }: Row) => `${String(name)} of ${owner}`
  return [
    ...after.flatMap((row) => changesOf('plugin', titleOfPlugin(row), named(before, row.name), row)),
    ...before
      .filter((row) => named(after, row.name) === undefined)
      .map((row) => ({ change: 'deleted' as const, kind: 'plugin' as const, row: titleOfPlugin(row), fields: [] })),
  ]
}

function changesOf(kind: RowChange['kind'], row: string, was: Row | undefined, is: Row): RowChange[] {
  if (was === undefined) return [{ change: 'created', kind, row, fields: [] }]
  const fields = fieldChanges(was, is)
  return fields.length === 0 ? [] : [{ change: 'updated', kind, row, fields }]
}

/** The server chooses the id of a new row, unless the document gives an id. */
function titleOf({ id, name }: Row, isNew = false): string {
  if ((name ?? null) === null) return String(id)
  return isNew ? String(name) : `${name} (${id})`
}

/** Members whose value is never shown: they hold secrets. */
const secretMembers = new Set(['config', 'headers'])

function fieldChanges(was: Fields, is: Fields, place = ''): string[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((key) => {
    if (place === '' && (key === 'plugins' || key === 'id')) return []
    const [a, b] = [was[key] ?? null, is[key] ?? null]
    if (JSON.stringify(a) === JSON.stringify(b)) return []
    const path = place === '' ? key : `${place}.${key}`
    const isSecret = secretMembers.has(key) && !isSourceConfig(a, b)
    if (isObject(a) && isObject(b)) return isSecret ? secretChanges(a, b, path) : fieldChanges(a, b, path)
    return isSecret ? [`${path}: changed`] : [`${path}: ${JSON.stringify(a)} -> ${JSON.stringify(b)}`]
  })
}

/** The `config` of a source holds a route, no secret. */
function isSourceConfig(a: unknown, b: unknown): boolean {
  return isObject(a) && isObject(b) && 'http' in a && 'http' in b
}

function secretChanges(was: Fields, is: Fields, place: string): string[] {
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  return keys
    .filter((key) => JSON.stringify(was[key]) !== JSON.stringify(is[key]))
    .map((key) => `${place}.${key}: changed`)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
