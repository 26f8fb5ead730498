import type { CompiledConfiguration, Context } from '../context.ts'
import { jsonOf } from '../core/json-of.ts'
import { PosthornError } from '../errors.ts'
import type { EventInput } from '../schema/catalogue.ts'
import { eventInput, maxBatchSize, type StoredEvent } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { parse } from '../schema/parse.ts'
import type { Ingest } from './ingest.ts'
import type { Incoming, Ingested, StoreAnswer } from './store-event.ts'
import type { Deferred } from '../runtime/batcher.ts'
import type { Created, EventUseCases, StoredAnswer } from './use-cases.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { defaultWorkspace, makeDefault, unknownWorkspace } from './resolve-workspace.ts'

/** Publishes events that the host or an API client made. */
export function publishService(ctx: Context, ingest: Ingest): Pick<EventUseCases, 'create' | 'createMany'> {
  const defaults = singleFlight(() => makeDefault(ctx))

  /** Nobody may have written the default workspace yet. Events that come side by side have it written together. */
  async function configurationOf(workspaceId: string): Promise<CompiledConfiguration> {
    let configuration = await ctx.configuration.get(workspaceId)
    if (configuration === null && workspaceId === defaultWorkspace) {
      await defaults.ask(workspaceId)
      configuration = await ctx.configuration.get(workspaceId)
    }
    if (configuration === null) throw unknownWorkspace(workspaceId)
    return configuration
  }

  // It waits only where there is something to wait for: hundreds of events wait for their batch, each with the frames of its calls.
  async function publish(workspaceId: string, input: EventInput): Promise<Created<StoredEvent>> {
    const incoming = incomingOf(input)
    const checked = ctx.catalogue.check(incoming.event_type, incoming.data)
    if (checked !== undefined) await checked
    const configuration = ctx.configuration.held(workspaceId) ?? (await configurationOf(workspaceId))
    const admitted = ingest.admit(configuration.workspace)
    if (admitted !== undefined) await admitted
    const stored = await ingest.under(configuration, incoming)
    return created(stored === 'stale' ? await ingest.into(workspaceId, incoming) : stored)
  }

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

  return {
    create: publish,

    async createMany(workspaceId, inputs) {
      if (!Array.isArray(inputs) || inputs.length > maxBatchSize)
        throw new PosthornError('validation', `value must be a list of at most ${maxBatchSize} events`)
      // Entries that are added side by side go together to the storage.
      return await new Promise((resolve) => {
        const many = new Many(ctx, inputs.length, resolve)
        inputs.forEach((input: EventInput, place) => {
          try {
            publishOne(workspaceId, input, place, many)
          } catch (cause) {
            many.refused(place, cause)
          }
        })
      })
    },
  }
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

function incomingOf(input: EventInput): Incoming {
  const { id, event_type, unique_id } = parse(eventInput, shallow(input))
  return { id, event_type, data: dataText(input), unique_id }
}

function created({ kind, event }: Ingested): Created<StoredEvent> {
  return { row: event, created: kind === 'stored' }
}

function refusal({ log }: Context, cause: unknown): StoredAnswer {
  if (cause instanceof PosthornError && cause.code !== 'internal') return { error: cause }
  log.error('an event was not stored', { cause })
  return { error: cause instanceof PosthornError ? cause : new PosthornError('internal', 'internal error', { cause }) }
}

/** The gate looks at the form of `data` alone, so a ready text need not be parsed for it. */
function shallow(input: EventInput): unknown {
  if (!(input?.data instanceof JsonText)) return input
  return { ...input, data: input.data.text.trimStart().startsWith('{') ? {} : input.data.toJSON() }
}

function dataText({ data }: EventInput): string {
  return data instanceof JsonText ? data.text : jsonOf(data, 'data')
}
