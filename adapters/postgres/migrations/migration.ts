export interface Migration {
  readonly version: number
  /** Processes of the version before go on beside it, and may start. Default false. */
  readonly expands?: boolean
  /** Statements, each ending with a semicolon, for the schema in whose place `$schema` stands. */
  readonly sql: string
}
