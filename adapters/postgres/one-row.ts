import type { Row } from '../sql/values.ts'
import { type Sql, sql } from '../sql/sql.ts'
import { oneRow as step } from './migrations/18-one-row.ts'
import type { Tables } from './tables.ts'

const askEveryMs = 60_000

/** The part of a database that is asked. */
interface Asked {
  readonly t: Tables
  readonly bound: boolean
  ask(statement: Sql): Promise<readonly Row[]>
}

/**
 * Whether new open attempts are written into the rows of their jobs, where the engine's own queue holds these. Before step 18
 * of the schema they stand in `open_attempts`, since processes of an earlier version look for them there. Both forms are
 * read always: so it does not matter when a process notices the step.
 */
export class OneRow {
  #isOn = false
  #askedAt = -Infinity
  #asking: Promise<boolean> | null = null

  async isOn(db: Asked): Promise<boolean> {
    // Inside a transaction of the host nothing is asked for this alone: what is known serves.
    if (this.#isOn || db.bound || performance.now() - this.#askedAt < askEveryMs) return this.#isOn
    return await (this.#asking ??= this.#ask(db).finally(() => (this.#asking = null)))
  }

  /** Asks outside, for transactions that follow. */
  ask(db: Asked): void {
    this.isOn(db).catch(() => {})
  }

  async #ask({ ask, t }: Asked): Promise<boolean> {
    const rows = await ask(sql`select 1 from ${t.migrations} where version = ${step.version}::int`)
    this.#askedAt = performance.now()
    return (this.#isOn = rows.length > 0)
  }
}
