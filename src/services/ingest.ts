import type { CompiledConfiguration, Context } from '../context.ts'
import type { Awaitable } from '../contracts/awaitable.ts'
import type { Message } from '../contracts/inbox.ts'
import type { IngestAnswer, IngestEntry } from '../contracts/storage/events.ts'
import type { PlannedAttempt } from '../contracts/storage/attempts.ts'
import type { PublishEnd } from '../contracts/telemetry.ts'
import { fanout } from '../core/fanout.ts'
import { PosthornError, uniqueViolation } from '../errors.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Workspace } from '../schema/workspace.ts'
import type { Admit } from './admission.ts'
import { traced } from './traced.ts'
import { EntryWriter } from './entry-writer.ts'
import { MessageWriter } from './message-writer.ts'
import { lazy } from '../runtime/lazy.ts'
import { WorkTurns } from '../runtime/work-turns.ts'
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

export interface Ingest {
  /** Stores an event with its attempts as this configuration matches it; `stale` when the configuration has moved on. */
  under(configuration: CompiledConfiguration, incoming: Incoming): Promise<Ingested | 'stale'>
  /** The same under the configuration of now. @throws PosthornError `unknown_workspace` when the workspace is gone. */
  into(workspaceId: string, incoming: Incoming): Promise<Ingested>
  /** The same with attempts of the caller's choosing. */
  withAttempts(
    workspaceId: string,
    incoming: Incoming,
    attempts: (event: StoredEvent, configuration: CompiledConfiguration) => PlannedAttempt[],
  ): Promise<Ingested>
  /** Puts an event into the inbox, to be stored later. */
  later(message: Message): Promise<void>
  /** Admits an event of a workspace, at once where it has no limit. @throws PosthornError `rate_limited` beyond `limits.events_per_second` */
  admit(workspace: Workspace): Awaitable<void>
  /** The same for many events. They are refused from the first event on that may not pass. */
  readonly admitted: Admit
  idle(): Promise<void>
  /** Rejects with `unavailable` what waits for the storage. */
  giveUp(): void
}

/** How often an event is matched anew when writes of configuration overtake it. */
const maxTries = 20

/** Beyond so many endpoints it may take milliseconds to match an event, and to plan its attempts. */
const maxAtOnce = 200

/** How the attempts of an event are made, under a configuration. */
type AttemptsOf = (event: StoredEvent, configuration: CompiledConfiguration) => Awaitable<PlannedAttempt[]>

/** Makes events of what comes in: the only way into storage, whoever publishes. */
export function ingestService(ctx: Context): Ingest {
  const entries = new EntryWriter(ctx)
  const messages = new MessageWriter(ctx)
  const plans = new WorkTurns(ctx.clock, { rests: false })
  const matched: AttemptsOf = (event, configuration) => {
    const plan = () => fanout(event.id, configuration.match(event.event_type), event.created_at, ctx.newId)
    return configuration.endpoints.size > maxAtOnce ? plans.run(configuration.workspace.id, plan) : plan()
  }

  async function withAttempts(workspaceId: string, incoming: Incoming, attemptsOf: AttemptsOf): Promise<Ingested> {
    let configuration = await ctx.configuration.get(workspaceId)
    for (let tries = 0; tries < maxTries; tries++) {
      if (configuration === null) throw new PosthornError('unknown_workspace', `invalid workspace: ${workspaceId}`)
      const answer = await store(ctx, entries, configuration, incoming, attemptsOf)
      if (answer !== 'stale') return answer
      configuration = await ctx.configuration.fresh(workspaceId)
    }
    throw new PosthornError('unavailable', 'the configuration changes too fast to match the event')
  }

  const limited = lazy(async () => (await import('./admission.ts')).admission(ctx)) // few workspaces have a limit
  const admitted: Admit = async (workspace, want) => {
    if (workspace.limits.events_per_second === null) return { granted: want, retryAfterMs: 0 }
    return await (
      await limited()
    )(workspace, want)
  }

  async function admitOne(workspace: Workspace): Promise<void> {
    const { granted, retryAfterMs } = await admitted(workspace, 1)
    if (granted === 0) throw new PosthornError('rate_limited', 'rate limit exceeded', { retryAfterMs })
  }

  return {
    admitted,
    admit: (workspace) => (workspace.limits.events_per_second === null ? undefined : admitOne(workspace)),
    under: (configuration, incoming) => store(ctx, entries, configuration, incoming, matched),
    into: (workspaceId, incoming) => withAttempts(workspaceId, incoming, matched),
    withAttempts,
    later: (message) => messages.put(message),
    async idle() {
      await plans.idle()
      await Promise.all([entries.idle(), messages.idle()])
    },
    giveUp() {
      entries.giveUp()
      messages.giveUp()
    },
  }
}

/** Stores an event with its attempts. */
async function store(
  ctx: Context,
  entries: EntryWriter,
  configuration: CompiledConfiguration,
  incoming: Incoming,
  attemptsOf: AttemptsOf,
): Promise<Ingested | 'stale'> {
  const ready = ctx.clock.ready()
  if (ready !== undefined) await ready
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
  const planned = made instanceof Promise ? await made : made
  const handed = ctx.handOff.to?.take(configuration, planned, incoming.data.length)
  const attempts = handed?.attempts ?? planned
  const { workspace, revision } = configuration
  const plain = { workspaceId: workspace.id, revision, event, attempts }
  const entry: IngestEntry = incoming.id === null ? plain : { ...plain, token: ctx.newId() }
  let answer: IngestAnswer | undefined
  let trace: string | undefined
  try {
    answer = await followed(ctx, entries, entry, incoming.trace ?? null, (given) => (trace = given))
  } finally {
    if (answer?.kind !== 'stored') handed?.notStored(answer === undefined)
  }
  switch (answer.kind) {
    case 'stored':
      handed?.stored(event, trace, answer.held ?? [])
      ctx.emit('event', { workspace_id: entry.workspaceId, event, attempts: attempts.length })
      return { kind: 'stored', event }
    case 'duplicate':
      return { kind: 'duplicate', event: answer.event }
    case 'stale':
      return 'stale'
    case 'id_taken':
      throw await refusalOfEvent(ctx, entry.workspaceId, event.id)
    case 'rejected':
      throw new PosthornError('internal', 'the storage refused the event', { cause: answer.cause })
    case 'held':
      throw new PosthornError('timeout', 'a transaction that is open holds the id or the unique_id of the event')
  }
}

/** Of an event elsewhere a caller learns only that the id is taken. */
async function refusalOfEvent(ctx: Context, workspaceId: string, id: string): Promise<PosthornError> {
  return (await ctx.storage.events.get(workspaceId, id)) === null ? taken('id') : uniqueViolation({ id })
}

/** Writes an entry with the trace context to which the event's attempts belong. */
function followed(
  ctx: Context,
  entries: EntryWriter,
  entry: IngestEntry,
  parent: string | null,
  followedBy: (trace: string) => void,
): Promise<IngestAnswer> {
  if (ctx.telemetry === undefined) return entries.write(entry)
  const { workspaceId, event } = entry
  const since = ctx.clock.elapsed()
  return traced(
    ctx.telemetry.publish({ workspaceId, eventId: event.id, eventType: event.event_type, parent }),
    (trace) => {
      if (trace === null) return entries.write(entry)
      followedBy(trace)
      return entries.write({ ...entry, trace })
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
