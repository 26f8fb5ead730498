import type { Parsing, Reading } from '../context.ts'
import type { EngineClock } from '../contracts/clock.ts'
import type { Method } from '../operations/operation.ts'
import type { Services } from '../services/use-cases.ts'
import type { About } from './about.ts'

/** A request that was routed, placed in its workspace and authorized. */
export interface Call {
  readonly services: Services
  readonly clock: EngineClock
  readonly parsing: Parsing
  readonly reading: Reading
  readonly request: Request
  readonly url: URL
  /** The id of the workspace that the path names; empty where it names none. */
  readonly workspace: string
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly maxBodyBytes: number
  /** Tells of a call that changed or revealed something. */
  tell(change: { operation: string; workspace: string | null; id: string | null }): void
  /** What the host says of the API. */
  readonly about: About
}

export interface Route {
  readonly method: Method
  /** Path parameters begin with a colon. */
  readonly path: string
  /** The name of the service function, as `authorize` hears it. */
  readonly operation: string
  /** Whether the path stands below `/workspaces/:ws_id`, and alone means the workspace `default`. */
  readonly scoped: boolean
  handle(call: Call): Promise<Response>
}
