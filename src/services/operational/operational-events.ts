import type { Context } from '../../context.ts'
import type { ConfigurationChange } from '../../contracts/observer.ts'
import type { Cause, CauseKind } from '../../contracts/storage/causes.ts'
import { hourMs, minuteMs } from '../../core/periods.ts'
import { serverUrl } from '../../core/server-url.ts'
import { PosthornError } from '../../errors.ts'
import { ensureWorkspace } from '../ensure-workspace.ts'
import { foldNotes } from '../fold-notes.ts'
import type { Ingest } from '../ingest.ts'
import { resolveWorkspace } from '../resolve-workspace.ts'
import { digest } from './digest.ts'
import type { Window } from './refusals.ts'

const causesPerPage = 100
/**
 * A cause that was left before an endpoint was to be disabled is given up after this time, if the endpoint is still
 * enabled.
 */
const pendingMs = 10 * minuteMs
/** A backlog grows when its oldest delivery has been due for so long. */
const growingMs = 5 * minuteMs

type Links = Readonly<Record<string, string>>

/**
 * Publishes operational events in the workspace of the option `operations`. What happened was stored as a cause in the
 * step that made it happen, and is removed once its event is stored; `unique_id` makes a second publish a no-op. So
 * each event is published exactly once, whichever process dies.
 */
export class OperationalEvents {
  readonly #ctx: Context
  readonly #ingest: Ingest
  #looking: Promise<void> | null = null
  #again = false

  constructor(ctx: Context, ingest: Ingest) {
    this.#ctx = ctx
    this.#ingest = ingest
  }

  /** The minute's work: what other processes saw, and the backlog. */
  async minute(): Promise<void> {
    const { clock, queue, storage } = this.#ctx
    await clock.ready()
    const now = clock.now()
    if (!(await storage.turn('operational-events', minuteMs, now))) return
    await this.look()
    const { oldestDueAt, size } = await queue.stats(now)
    if (oldestDueAt === null || now - oldestDueAt <= growingMs) return
    const age = Math.floor((now - oldestDueAt) / 1000)
    // Once an hour as long as it goes on.
    await this.publish('backlog.growing', `backlog:${Math.floor(now / hourMs)}`, {
      oldest_due_at: oldestDueAt,
      age_seconds: age,
      queue_size: size,
    })
  }

  /** Publishes everything that waits. A call during a look waits for a look that begins after the call. */
  async look(): Promise<void> {
    if (this.#looking !== null) {
      this.#again = true
      return await this.#looking
    }
    this.#looking = this.#lookUntilDone().finally(() => (this.#looking = null))
    await this.#looking
  }

  async #lookUntilDone(): Promise<void> {
    do {
      this.#again = false
      await foldNotes(this.#ctx)
      await this.#each('exhausted', (cause) => this.#exhausted(cause))
      await this.#each('disabled', (cause) => this.#disabled(cause))
      await this.#each('failing', (cause) => this.#troubled(cause, 'endpoint.failing'))
      await this.#each('troubled', (cause) => this.#recovered(cause))
    } while (this.#again)
  }

  /** Does `work` for each cause of a kind, and removes the causes for which `work` answers true. */
  async #each(kind: CauseKind, work: (cause: Cause) => Promise<boolean>): Promise<void> {
    const { causes } = this.#ctx.storage
    for (let after: string | null = null; ;) {
      const page: readonly Cause[] = await causes.list({ kind, after, limit: causesPerPage })
      const done = await Promise.all(page.map(work))
      await causes.remove(page.filter((_, i) => done[i]))
      const last = page.at(-1)
      if (last === undefined || page.length < causesPerPage) return
      after = last.id
    }
  }

  async #exhausted({ workspace_id, endpoint_id, attempt_id, at }: Cause): Promise<boolean> {
    const attempt = attempt_id === null ? null : await this.#ctx.storage.attempts.get(workspace_id, attempt_id)
    if (attempt === null || attempt_id === null) return true // removed meanwhile, with the event or the workspace
    const event = await this.#ctx.storage.events.get(workspace_id, attempt.event_id)
    await this.publish('delivery.exhausted', `exhausted:${attempt_id}`, {
      workspace_id,
      endpoint_id,
      event_id: attempt.event_id,
      event_type: event?.event_type ?? null,
      attempt_id,
      tries: attempt.attempt_number,
      response_status: attempt.response?.status ?? null,
      error_code: attempt.error_code,
      reason: attempt.error_message ?? (attempt.response === null ? null : `status ${attempt.response.status}`),
      at,
      links: this.#links(workspace_id, {
        endpoint: `endpoints/${endpoint_id}`,
        event: `events/${attempt.event_id}`,
        attempt: `attempts/${attempt_id}`,
      }),
    })
    return true
  }

  /**
   * The cause is left before the endpoint is disabled, so it counts once the endpoint is disabled. The cause of a 410
   * counts at once.
   */
  async #disabled(cause: Cause): Promise<boolean> {
    if (cause.reason !== 'gone') {
      const stored = await this.#ctx.storage.endpoints.get(cause.workspace_id, cause.endpoint_id)
      const isDone = stored !== null && (stored.row.disabled_at ?? -Infinity) >= cause.at
      if (!isDone) return stored === null || cause.at < this.#ctx.clock.now() - pendingMs
    }
    return await this.#troubled(cause, 'endpoint.disabled')
  }

  /** The recovery of the endpoint is published after the next success. */
  async #troubled(cause: Cause, type: 'endpoint.disabled' | 'endpoint.failing'): Promise<boolean> {
    const { storage } = this.#ctx
    const { workspace_id, endpoint_id, attempt_id, at, reason } = cause
    const streak = await storage.statistics.streak(workspace_id, endpoint_id)
    await storage.causes.add([{ ...cause, kind: 'troubled', id: endpoint_id }])
    await this.publish(type, `${cause.kind}:${cause.id}:${at}`, {
      workspace_id,
      endpoint_id,
      reason,
      attempt_id,
      consecutive_failures: streak?.failures ?? 0,
      exhausted_deliveries: streak?.exhausted ?? 0,
      last_success_at: streak?.succeeded_at ?? null,
      at,
      links: this.#links(workspace_id, { endpoint: `endpoints/${endpoint_id}` }),
    })
    return true
  }

  async #recovered({ workspace_id, endpoint_id, at }: Cause): Promise<boolean> {
    const { storage } = this.#ctx
    if ((await storage.endpoints.get(workspace_id, endpoint_id)) === null) return true
    const succeededAt = (await storage.statistics.streak(workspace_id, endpoint_id))?.succeeded_at ?? null
    if (succeededAt === null || succeededAt <= at) return false
    await this.publish('endpoint.recovered', `recovered:${endpoint_id}:${at}`, {
      workspace_id,
      endpoint_id,
      troubled_since: at,
      at: succeededAt,
      links: this.#links(workspace_id, { endpoint: `endpoints/${endpoint_id}` }),
    })
    return true
  }

  /** More than half of the requests in a window of five minutes were refused. */
  async refusing({ workspaceId, sourceId, from, to, requests, refused }: Window): Promise<void> {
    await this.publish('source.refusing', `source:${sourceId}:${this.#ctx.thisProcess().id}:${from}`, {
      workspace_id: workspaceId,
      source_id: sourceId,
      from,
      to,
      requests,
      refused,
      links: this.#links(workspaceId, { source: `sources/${sourceId}` }),
    })
  }

  /** A call that was done. Each is published once, by the process that did it. */
  async changed({ workspace_id, id, operation, actor }: ConfigurationChange): Promise<void> {
    const { clock, newId } = this.#ctx
    await this.publish('configuration.changed', `changed:${newId()}`, {
      workspace_id,
      id,
      operation,
      actor,
      at: clock.now(),
    })
  }

  /** Publishes `posthorn.<type>`, once for each `key`. */
  async publish(type: string, key: string, data: Readonly<Record<string, unknown>>): Promise<void> {
    const unique_id = `posthorn:${await digest(key)}`
    const event = { id: null, event_type: `posthorn.${type}`, data: JSON.stringify(data), unique_id }
    await this.#ingest.into(await this.#workspace(), event)
  }

  async #workspace(): Promise<string> {
    const { operations } = this.#ctx.settings
    const name = operations!.workspace // made only where the option is set
    try {
      return (await resolveWorkspace(this.#ctx, name)).id
    } catch (cause) {
      if (!(cause instanceof PosthornError) || cause.code !== 'unknown_workspace') throw cause
      return (await ensureWorkspace(this.#ctx, { id: name })).row.id
    }
  }

  #links(workspaceId: string, places: Links): Links {
    const base = `${serverUrl(this.#ctx.settings.admin)}/workspaces/${workspaceId}`
    return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, `${base}/${place}`]))
  }
}
