import type { Context } from '../context.ts'
import { PosthornError } from '../errors.ts'
import type { Deferred } from '../runtime/batcher.ts'
import type { EventInput } from '../schema/catalogue.ts'
import type { StoredEvent } from '../schema/event.ts'
import { created, incomingOf } from './incoming-event.ts'
import type { Ingest } from './ingest.ts'
import type { Ingested, StoreAnswer } from './store-event.ts'
import type { Created, StoredAnswer } from './use-cases.ts'

type PublishMany = (workspaceId: string, inputs: readonly EventInput[]) => Promise<readonly StoredAnswer[]>

/** Publishes events side by side, so that they go together to the storage. `publish`: how a single one is published. */
export function publishMany(
  ctx: Context,
  ingest: Ingest,
  publish: (workspaceId: string, input: EventInput) => Promise<Created<StoredEvent>>,
): PublishMany {
  /** Publishes one of many. Where nothing is to be waited for before the storage, it needs no promises. */
  function publishOne(workspaceId: string, input: EventInput, place: number, many: Many): void {
    const configuration = ctx.configuration.held(workspaceId)
    if (configuration === undefined || configuration.workspace.limits.events_per_second !== null) {
      publish(workspaceId, input).then(
        (published) => many.answered(place, published),
        (cause: unknown) => many.refused(place, cause),
      )
      return
    }
    const incoming = incomingOf(input)
    const one = new OneOfMany(many, place, () => ingest.into(workspaceId, incoming))
    const checked = ctx.catalogue.check(incoming.event_type, incoming.data)
    if (checked === undefined) ingest.oneOfMany(configuration, incoming, one)
    else {
      checked.then(() => ingest.oneOfMany(configuration, incoming, one)).catch((cause: unknown) => one.reject(cause))
    }
  }

  return (workspaceId, inputs) =>
    new Promise((resolve) => {
      const many = new Many(ctx, inputs.length, resolve)
      inputs.forEach((input, place) => {
        try {
          publishOne(workspaceId, input, place, many)
        } catch (cause) {
          many.refused(place, cause)
        }
      })
    })
}

/** What becomes of many events. */
class Many {
  readonly #ctx: Context
  readonly #answers: StoredAnswer[]
  readonly #resolve: (answers: readonly StoredAnswer[]) => void
  #left: number

  constructor(ctx: Context, count: number, resolve: (answers: readonly StoredAnswer[]) => void) {
    this.#ctx = ctx
    this.#answers = Array.from({ length: count })
    this.#resolve = resolve
    this.#left = count
    if (count === 0) resolve([])
  }

  answered(place: number, answer: StoredAnswer): void {
    this.#answers[place] = answer
    if (--this.#left === 0) this.#resolve(this.#answers)
  }

  refused(place: number, cause: unknown): void {
    this.answered(place, refusal(this.#ctx, cause))
  }
}

/** One of many events, which waits for the storage. */
class OneOfMany implements Deferred<StoreAnswer> {
  readonly #many: Many
  readonly #place: number
  /** Stores it under the configuration of now. */
  readonly #storeAnew: () => Promise<Ingested>

  constructor(many: Many, place: number, storeAnew: () => Promise<Ingested>) {
    this.#many = many
    this.#place = place
    this.#storeAnew = storeAnew
  }

  resolve(answer: StoreAnswer): void {
    if (answer !== 'stale') return this.#many.answered(this.#place, created(answer))
    this.#storeAnew().then(
      (stored) => this.resolve(stored),
      (cause: unknown) => this.reject(cause),
    )
  }

  reject(cause: unknown): void {
    this.#many.refused(this.#place, cause)
  }
}

function refusal({ log }: Context, cause: unknown): StoredAnswer {
  if (cause instanceof PosthornError && cause.code !== 'internal') return { error: cause }
  log.error('an event was not stored', { cause })
  return { error: cause instanceof PosthornError ? cause : new PosthornError('internal', 'internal error', { cause }) }
}
