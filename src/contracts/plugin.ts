import type * as v from 'valibot'

import type { TriggerMode } from '../schema/attempt.ts'
import type { Awaitable } from './awaitable.ts'
import type { Logger } from './observer.ts'
import type { Platform } from './platform.ts'
import type { Inbound, Outbound } from './request.ts'

interface PluginContext {
  /** Unix milliseconds. */
  readonly now: number
  /** Aborted when the request is over or its time is up. Read it from the context itself: a spread copy of one may lack it. */
  readonly signal: AbortSignal
  readonly log: Logger
}

export interface InboundContext extends PluginContext {
  readonly workspaceId: string
  readonly source: { readonly id: string; readonly name: string | null }
}

export interface OutboundContext extends PluginContext {
  readonly workspaceId: string
  /** `data` is the event's text as received. */
  readonly event: {
    readonly id: string
    readonly event_type: string
    readonly data: string
    readonly ingested_at: number
    readonly unique_id: string | null
  }
  readonly attempt: { readonly id: string; readonly attempt_number: number; readonly trigger_mode: TriggerMode }
  readonly endpoint: { readonly id: string; readonly name: string | null }
  /**
   * For a plugin that waits for something that tenants share: until what it answers is called, time does not count
   * against the timeout of the plugins. Such a wait is bounded by the plugin.
   */
  pause?(): () => void
}

/** A plugin with its config, made once per stored version and used for every request. */
export interface PreparedPlugin {
  /** Lets a request pass, changed or not, or answers it. A throw is a 500 and stores nothing. */
  inbound?(request: Inbound, context: InboundContext): Awaitable<Inbound | Response>
  /**
   * Changes a delivery before it is sent. A throw ends the try as PLUGIN_ERROR, but for a `PosthornError` `overloaded`: the
   * plugin found no place to run, nothing is recorded, and the attempt goes back to the queue as it was.
   */
  outbound?(request: Outbound, context: OutboundContext): Awaitable<Outbound>
  close?(): void
}

/** A kind of plugin that a host registers: `createPosthorn({ plugins: [myPlugin] })`. */
export interface PluginKind<Config = unknown> {
  /** As in `plugin.name`. */
  readonly name: string
  readonly sides: readonly ('inbound' | 'outbound')[]
  /** Refuses a config with reasons at its places. */
  readonly config: v.GenericSchema<unknown, Config>
  /** Names of kinds that run after this one, and before it. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /**
   * Fields of the config that hold secrets: `signing_secret`, `credentials.token`, `secrets[]` for each item of a list. Texts
   * there, and below there, are sealed and masked where the option `secrets` is set. Default: none.
   */
  readonly secrets?: readonly string[]
  /**
   * Loads what the kind needs beside its own code, such as an optional package: once, and anew after it threw. `start`
   * fails as it does; elsewhere the throw is logged, and plugins of the kind cannot be written.
   */
  load?(platform: Platform): Awaitable<void>
  /** Completes a config on write, with a fresh secret for instance, before it is validated. What it makes is kept by a config sync that omits it. */
  fill?(config: Readonly<Record<string, unknown>>, platform: Platform): Readonly<Record<string, unknown>>
  /**
   * Checks that a schema cannot express or that take time; answers reasons at their places under `config`, or null. Work
   * that tenants share is counted for the workspace.
   */
  verify?(config: Config, platform: Platform, workspaceId?: string): Awaitable<Readonly<Record<string, unknown>> | null>
  /** `row` is the stored plugin; missing where a plugin is made from a config alone, as in a test. */
  prepare(config: Config, platform: Platform, row?: { readonly id: string }): Awaitable<PreparedPlugin>
}

/** Keeps the config's type: `definePlugin({ name, sides, config: v.object({ ... }), prepare: (config) => ... })`. */
export function definePlugin<Config>(kind: PluginKind<Config>): PluginKind<Config> {
  return kind
}

/** The kinds of this process, in the order they run. */
export interface PluginRegistry {
  get(name: string): PluginKind | undefined
  /** Every kind that is registered. */
  all(): readonly PluginKind[]
  /** The place of a kind in the run order. */
  rank(name: string): number
  /** Resolves when the kinds that are named, or all, have loaded what they need. @throws what the `load` of one throws */
  ready(platform: Platform, names?: readonly string[]): Promise<void>
}
