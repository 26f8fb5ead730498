export interface Migration {
  readonly version: number
  /** Processes of the version before go on beside it, and may start. Default false. */
  readonly expands?: boolean
  /**
   * A condition in SQL. While it does not hold the step is left for a later call, and the package does without it.
   * Only the last step may have one.
   */
  readonly waitsUntil?: string
  /** Columns of rows that exist: filled before the statements of the step, some rows at a time. */
  readonly fill?: Fill
  /** Indexes of tables that may be large: built before the statements of the step, while others write. */
  readonly indexes?: readonly Index[]
  /** Statements, each ending with a semicolon, for the schema in whose place `$schema` stands. */
  readonly sql: string
}

/** Rows of a table, named `r`, that are changed. */
export interface Fill {
  readonly table: string
  /** The column by which rows are walked. */
  readonly key: string
  readonly where: string
  /** What stands behind `set`, up to a further condition. */
  readonly set: string
}

export interface Index {
  readonly name: string
  readonly unique?: boolean
  /** Table, columns and condition. */
  readonly on: string
}

export function tableOf({ on }: Index): string {
  return /^\w+/.exec(on)![0]
}

/** The statement that fills all rows at once. */
export function fillText({ table, where, set }: Fill, schema: string): string {
  return `update ${schema}.${table} r set ${set.replaceAll('$schema', schema)} and ${where};`
}

/** The statement that makes an index. `concurrently`: others write meanwhile; outside of a transaction only. */
export function indexText({ name, unique = false, on }: Index, schema: string, concurrently = false): string {
  const how = `${unique ? 'unique ' : ''}index ${concurrently ? 'concurrently ' : ''}if not exists`
  return `create ${how} ${name} on ${schema}.${on};`
}
