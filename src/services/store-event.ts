import type { CompiledConfiguration, Context, Handed } from '../context.ts'
import type { Awaitable } from '../contracts/awaitable.ts'
import type { PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { IngestAnswer, IngestEntry } from '../contracts/storage/events.ts'
import type { PublishEnd, Telemetry } from '../contracts/telemetry.ts'
import { PosthornError, uniqueViolation } from '../errors.ts'
import type { Deferred } from '../runtime/batcher.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { EntryWriter } from './entry-writer.ts'
import { traced } from './traced.ts'
import { taken } from './violation-error.ts'

/** An event as it comes in. `data` is its text. */
export interface Incoming {
  /** The id that the client chose; null where Posthorn makes the id. */
  readonly id: string | null
  readonly event_type: string
  readonly data: string
  readonly unique_id: string | null
  /** The trace context in which it was accepted, where that is not the caller's. */
  readonly trace?: string
}

/** `duplicate`: the `unique_id` was seen before, and `event` is the stored event. */
export type Ingested = { readonly kind: 'stored' | 'duplicate'; readonly event: StoredEvent }

/** How the attempts of an event are made, under a configuration. */
export type AttemptsOf = (event: StoredEvent, configuration: CompiledConfiguration) => Awaitable<PlannedAttempt[]>

/** `stale`: the configuration has moved on, so that the event is to be matched anew. */
export type StoreAnswer = Ingested | 'stale'

/** What stores events, and under which configuration. */
export interface Storing {
  readonly ctx: Context
  readonly entries: EntryWriter
  readonly configuration: CompiledConfiguration
  readonly attemptsOf: AttemptsOf
}

/**
 * Stores an event with its attempts and tells the one who waits. Thousands of events may wait for the storage at once: each is
 * one object here instead of a frame and a promise for each step, and nothing is awaited that is there.
 */
export function storeEvent(storing: Storing, incoming: Incoming, to: Deferred<StoreAnswer>): void {
  try {
    const ready = storing.ctx.clock.ready()
    if (ready === undefined) plan(storing, incoming, to)
    else ready.then(() => plan(storing, incoming, to)).catch((cause: unknown) => to.reject(cause))
  } catch (cause) {
    to.reject(cause)
  }
}

function plan(storing: Storing, incoming: Incoming, to: Deferred<StoreAnswer>): void {
  const { ctx, configuration, attemptsOf } = storing
  const now = ctx.clock.now()
  const event: StoredEvent = {
    id: incoming.id ?? ctx.newId(),
    event_type: incoming.event_type,
    data: incoming.data,
    ingested_at: now,
    unique_id: incoming.unique_id,
    created_at: now,
    updated_at: now,
  }
  const made = attemptsOf(event, configuration)
  if (made instanceof Promise) {
    made.then((planned) => write(storing, incoming, event, planned, to)).catch((cause: unknown) => to.reject(cause))
  } else write(storing, incoming, event, made, to)
}

function write(
  { ctx, entries, configuration }: Storing,
  incoming: Incoming,
  event: StoredEvent,
  planned: readonly PlannedAttempt[],
  to: Deferred<StoreAnswer>,
): void {
  const handed = ctx.handOff.to?.take(configuration, planned, incoming.data.length) ?? null
  const attempts = handed?.attempts ?? planned
  const { workspace, revision } = configuration
  const plain = { workspaceId: workspace.id, revision, event, attempts }
  const entry: IngestEntry = incoming.id === null ? plain : { ...plain, token: ctx.newId() }
  const publication = new Publication(ctx, entry, handed, to)
  try {
    if (ctx.telemetry === undefined) return entries.write(entry, publication)
    followed(ctx, ctx.telemetry, entries, entry, incoming.trace ?? null, publication).then(
      (answer) => publication.resolve(answer),
      (cause: unknown) => publication.reject(cause),
    )
  } catch (cause) {
    publication.reject(cause) // what was taken over is given back
  }
}

/** An event that waits for the storage. */
class Publication implements Deferred<IngestAnswer> {
  /** The trace context to which its attempts belong. */
  trace: string | undefined
  readonly #ctx: Context
  readonly #entry: IngestEntry
  readonly #handed: Handed | null
  readonly #to: Deferred<StoreAnswer>

  constructor(ctx: Context, entry: IngestEntry, handed: Handed | null, to: Deferred<StoreAnswer>) {
    this.#ctx = ctx
    this.#entry = entry
    this.#handed = handed
    this.#to = to
  }

  resolve(answer: IngestAnswer): void {
    const { workspaceId, event, attempts } = this.#entry
    if (answer.kind !== 'stored') this.#handed?.notStored(false)
    switch (answer.kind) {
      case 'stored':
        this.#handed?.stored(event, this.trace, answer.held ?? [])
        this.#ctx.emit('event', { workspace_id: workspaceId, event, attempts: attempts.length })
        return this.#to.resolve({ kind: 'stored', event })
      case 'duplicate':
        return this.#to.resolve({ kind: 'duplicate', event: answer.event })
      case 'stale':
        return this.#to.resolve('stale')
      case 'id_taken':
        return void refusalOfEvent(this.#ctx, workspaceId, event.id).then(
          (refusal) => this.#to.reject(refusal),
          (cause: unknown) => this.#to.reject(cause),
        )
      case 'rejected': {
        const { cause } = answer
        return this.#to.reject(new PosthornError('internal', 'the storage refused the event', { cause }))
      }
      case 'held': {
        const what = 'a transaction that is open holds the id or the unique_id of the event'
        return this.#to.reject(new PosthornError('timeout', what))
      }
    }
  }

  reject(cause: unknown): void {
    this.#handed?.notStored(true)
    this.#to.reject(cause)
  }
}

/** Of an event elsewhere a caller learns only that the id is taken. */
async function refusalOfEvent(ctx: Context, workspaceId: string, id: string): Promise<PosthornError> {
  return (await ctx.storage.events.get(workspaceId, id)) === null ? taken('id') : uniqueViolation({ id })
}

/** Writes an entry with the trace context to which the event's attempts belong. */
function followed(
  ctx: Context,
  telemetry: Telemetry,
  entries: EntryWriter,
  entry: IngestEntry,
  parent: string | null,
  publication: Publication,
): Promise<IngestAnswer> {
  const { workspaceId, event } = entry
  const since = ctx.clock.elapsed()
  const written = (given: IngestEntry): Promise<IngestAnswer> =>
    new Promise((resolve, reject) => entries.write(given, { resolve, reject }))
  return traced(
    telemetry.publish({ workspaceId, eventId: event.id, eventType: event.event_type, parent }),
    (trace) => {
      if (trace === null) return written(entry)
      publication.trace = trace
      return written({ ...entry, trace })
    },
    (answer) => ({ result: resultOf(answer), seconds: (ctx.clock.elapsed() - since) / 1000 }),
  )
}

function resultOf(answer: IngestAnswer | undefined): PublishEnd['result'] {
  switch (answer?.kind) {
    case 'stored':
    case 'duplicate':
    case 'stale':
      return answer.kind
    default:
      return 'failed'
  }
}
