import { InTurns, type Waits } from '../core/in-turns.ts'
import { tenantShares } from '../core/tenants.ts'
import { PosthornError } from '../errors.ts'

/** Each read takes a connection to the engine, and one of its processors: publishing needs both too. */
const maxAtOnce = 4
const maxWaiting = 1000

interface Reader extends Waits {
  readonly workspace: string
  go(): void
}

/**
 * Reads that tenants ask for over HTTP and that may take an engine a tenth of a second each, such as pages of lists: one at a time for
 * each workspace, and few at once. The workspaces of those that wait take turns.
 */
export class ReadingTurns {
  readonly #waiting = new InTurns<Reader>()
  readonly #room = tenantShares(maxWaiting)
  /** The workspaces for which something is read now. */
  readonly #reading = new Set<string>()

  /**
   * Reads when it is the workspace's turn. A read whose `signal` aborts before that is not made.
   * @throws PosthornError `overloaded` where more of the workspace wait than its share; `unavailable` where nobody waits for the answer
   */
  async run<Answer>(workspace: string, signal: AbortSignal, read: () => Promise<Answer>): Promise<Answer> {
    if (this.#mayRead(workspace)) this.#reading.add(workspace)
    else await this.#turn(workspace)
    try {
      if (signal.aborted) throw new PosthornError('unavailable', 'the client has gone')
      return await read()
    } finally {
      this.#reading.delete(workspace)
      const next = this.#waiting.nextOf((waiting) => waiting !== null && this.#mayRead(waiting))
      next?.go()
    }
  }

  /** Resolves when the workspace may read, and is counted. */
  async #turn(workspace: string): Promise<void> {
    const tenant = { workspace, owner: '' }
    if (!this.#room.take(tenant, 1)) throw new PosthornError('overloaded', 'service unavailable')
    await new Promise<void>((resolve) => {
      const go = (): void => {
        this.#reading.add(workspace)
        resolve()
      }
      this.#waiting.add({ workspace, go })
    })
    this.#room.give(tenant, 1)
  }

  #mayRead(workspace: string): boolean {
    return this.#reading.size < maxAtOnce && !this.#reading.has(workspace)
  }
}
