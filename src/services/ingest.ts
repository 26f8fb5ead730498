import type { CompiledConfiguration, Context } from '../context.ts'
import type { Awaitable } from '../contracts/awaitable.ts'
import type { Message } from '../contracts/inbox.ts'
import type { PlannedAttempt } from '../contracts/storage/attempts.ts'
import { fanout } from '../core/fanout.ts'
import { PosthornError } from '../errors.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Workspace } from '../schema/workspace.ts'
import type { Admit } from './admission.ts'
import { EntryWriter } from './entry-writer.ts'
import { MessageWriter } from './message-writer.ts'
import type { Deferred } from '../runtime/batcher.ts'
import { lazy } from '../runtime/lazy.ts'
import { WorkTurns } from '../runtime/work-turns.ts'
import { type AttemptsOf, type Incoming, type Ingested, type StoreAnswer, storeEvent } from './store-event.ts'

export interface Ingest {
  /** Stores an event with its attempts as this configuration matches it; `stale` when the configuration has moved on. */
  under(configuration: CompiledConfiguration, incoming: Incoming): Promise<StoreAnswer>
  /** The same for one of many, told to the one who waits for them. */
  oneOfMany(configuration: CompiledConfiguration, incoming: Incoming, to: Deferred<StoreAnswer>): void
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

/** Makes events of what comes in: the only way into storage, whoever publishes. */
export function ingestService(ctx: Context): Ingest {
  const entries = new EntryWriter(ctx)
  const messages = new MessageWriter(ctx)
  const plans = new WorkTurns(ctx.clock, { rests: false })
  const matched: AttemptsOf = (event, configuration) => {
    const plan = () => fanout(event.id, configuration.match(event.event_type), event.created_at, ctx.newId)
    return configuration.endpoints.size > maxAtOnce ? plans.run(configuration.workspace.id, plan) : plan()
  }

  const store = (
    configuration: CompiledConfiguration,
    incoming: Incoming,
    attemptsOf: AttemptsOf,
  ): Promise<StoreAnswer> =>
    new Promise((resolve, reject) => {
      storeEvent({ ctx, entries, configuration, attemptsOf }, incoming, { resolve, reject })
    })

  async function withAttempts(workspaceId: string, incoming: Incoming, attemptsOf: AttemptsOf): Promise<Ingested> {
    let configuration = await ctx.configuration.get(workspaceId)
    for (let tries = 0; tries < maxTries; tries++) {
      if (configuration === null) throw new PosthornError('unknown_workspace', `invalid workspace: ${workspaceId}`)
      const answer = await store(configuration, incoming, attemptsOf)
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
    under: (configuration, incoming) => store(configuration, incoming, matched),
    oneOfMany: (configuration, incoming, to) =>
      storeEvent({ ctx, entries, configuration, attemptsOf: matched }, incoming, to),
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
