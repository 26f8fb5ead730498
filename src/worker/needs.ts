import type { Context } from '../context.ts'
import type { Change } from '../contracts/storage/configuration.ts'
import type { Background } from '../runtime/background.ts'
import type { Deliver } from '../services/deliver.ts'
import type { Ingest } from '../services/ingest.ts'
import type { Operational } from '../services/operational/on-demand.ts'
import type { Wakeup } from './wakeup.ts'

/** A clock that a test moves: see `FakeClock`. */
export interface Movable {
  advance(ms: number): Promise<void>
  skip?(ms: number): boolean
}

/** What the worker works with. */
export interface Needs {
  readonly ctx: Context
  readonly ingest: Ingest
  readonly deliver: Deliver
  /** Publishes operational events, where the option `operations` is set. */
  readonly operational?: Operational | undefined
  readonly background: Background
  /** Wakes the loop that claims: jobs were added, here or elsewhere, or slots fell free. See `Cause`. */
  readonly jobs: Wakeup
  /** Drops what this process remembers of a configuration that another process changed. */
  changed(change: Change): void
  /** Moves the time, when the clock is a fake clock. */
  readonly time?: Movable | undefined
}
