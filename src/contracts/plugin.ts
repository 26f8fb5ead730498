import type { TriggerMode } from '../schema/attempt.ts'
import type { SchemaIssue } from '../schema/catalogue.ts'
import type { AnyPlugins } from '../schema/plugin.ts'
import type { BuiltInPlugins } from '../schema/plugin-configs.ts'
import type { Awaitable } from './awaitable.ts'
import type { Logger } from './observer.ts'
import type { Platform } from './platform.ts'
import type { Inbound, Outbound } from './request.ts'

/** What every plugin gets. */
interface PluginContext {
  /** The time, unix milliseconds. */
  readonly now: number
  /**
   * Aborted when the request is over or its time is up. Read it from the context itself: a spread copy of the context
   * may lack it.
   */
  readonly signal: AbortSignal
  /** The logger of the instance. */
  readonly log: Logger
}

/** What a plugin of a source gets with a request. */
export interface InboundContext extends PluginContext {
  /** Id of the workspace. */
  readonly workspaceId: string
  /** The source that the request reached. */
  readonly source: { readonly id: string; readonly name: string | null }
}

/** What a plugin of an endpoint gets with a delivery. */
export interface OutboundContext extends PluginContext {
  /** Id of the workspace. */
  readonly workspaceId: string
  /** The event. `data` is its text as received; `ingested_at` is in unix milliseconds. */
  readonly event: {
    readonly id: string
    readonly event_type: string
    readonly data: string
    readonly ingested_at: number
    readonly unique_id: string | null
  }
  /** The attempt; `attempt_number` counts from 1. */
  readonly attempt: { readonly id: string; readonly attempt_number: number; readonly trigger_mode: TriggerMode }
  /** The endpoint that the request goes to. */
  readonly endpoint: { readonly id: string; readonly name: string | null }
  /**
   * For a plugin that waits for something that tenants share: until what it answers is called, time does not count
   * against the timeout of the plugins. Such a wait is bounded by the plugin.
   */
  pause?(): () => void
}

/** A plugin with its config, made once for each stored version and used for every request. */
export interface PreparedPlugin {
  /** Lets a request pass, changed or not, or answers it. A throw is a 500 and stores nothing. */
  inbound?(request: Inbound, context: InboundContext): Awaitable<Inbound | Response>
  /**
   * Changes a delivery before it is sent. A throw ends the try as PLUGIN_ERROR, but for a `PosthornError` `overloaded`: the
   * plugin found no place to run, nothing is recorded, and the attempt goes back to the queue as it was.
   */
  outbound?(request: Outbound, context: OutboundContext): Awaitable<Outbound>
  /** Frees what the plugin holds. Called when the config changed or is no longer needed. */
  close?(): void
}

/** What a schema answers: the value that it makes, or why it refuses. */
export type ConfigResult<Config> =
  | {
      /** The value, with defaults filled in. */
      readonly value: Config
      /** Missing where the value was taken. */
      readonly issues?: undefined
    }
  | {
      /** Why the value was refused. */
      readonly issues: readonly SchemaIssue[]
    }

/** What a schema says of itself and does, as Standard Schema has it. */
export interface ConfigSchemaProps<Given, Config> {
  /** The version of Standard Schema. */
  readonly version: 1
  /** The library of the schema. */
  readonly vendor: string
  /** Judges a value, and fills in defaults. */
  readonly validate: (value: unknown) => ConfigResult<Config> | Promise<ConfigResult<Config>>
  /** What goes in and what comes out, for types alone. */
  readonly types?: { readonly input: Given; readonly output: Config } | undefined
}

/** A schema of any library that follows Standard Schema (https://standardschema.dev, version 1): valibot, zod, arktype and others. */
export interface ConfigSchema<Given = unknown, Config = unknown> {
  /** The schema, as Standard Schema has it. */
  readonly '~standard': ConfigSchemaProps<Given, Config>
}

/**
 * A kind of plugin that a host registers: `createPosthorn({ plugins: [myPlugin] })`. `Config` is what the plugin works with,
 * `Given` what may be written of it.
 */
export interface PluginKind<Config = unknown, Name extends string = string, Given = unknown> {
  /** As in `plugin.name`. */
  readonly name: Name
  /** `inbound` for sources, `outbound` for endpoints. */
  readonly sides: readonly ('inbound' | 'outbound')[]
  /**
   * Refuses a config, with the place of each reason, and fills in defaults. A schema of any library of Standard Schema.
   */
  readonly config: ConfigSchema<Given, Config>
  /** Names of kinds that run after this kind. Default: signatures. */
  readonly before?: readonly string[]
  /** Names of kinds that run before this kind. Default: `function`. */
  readonly after?: readonly string[]
  /**
   * Fields of the config that hold secrets: `signing_secret`, `credentials.token`, `secrets[]` for each item of a list.
   * Texts in these fields, and in everything below them, are sealed and masked where the option `secrets` is set.
   * Default: none.
   */
  readonly secrets?: readonly string[]
  /**
   * Loads what the kind needs beside its own code, such as an optional package. Called a single time, and again after
   * it threw. When it throws, `start` fails; elsewhere the error is logged, and plugins of the kind cannot be written.
   */
  load?(platform: Platform): Awaitable<void>
  /**
   * Completes a config on write, with a fresh secret for instance, before it is validated. A config sync that omits
   * what `fill` made leaves it as it is.
   */
  fill?(config: Readonly<Record<string, unknown>>, platform: Platform): Readonly<Record<string, unknown>>
  /**
   * Checks that a schema cannot express or that take time; answers reasons at their places under `config`, or null. Work
   * that tenants share is counted for the workspace.
   */
  verify?(config: Config, platform: Platform, workspaceId?: string): Awaitable<Readonly<Record<string, unknown>> | null>
  /** `row` is the stored plugin; missing where a plugin is made from a config alone, as in a test. */
  prepare(config: Config, platform: Platform, row?: { readonly id: string }): Awaitable<PreparedPlugin>
}

/**
 * Keeps the name and the config's type of a kind, so that `plugins.create` knows them. What `fill` makes may be left
 * out of `plugins.create`.
 * @example
 * const stamp = definePlugin({
 *   name: 'stamp',
 *   sides: ['outbound'],
 *   config: v.object({ header: v.string() }),
 *   prepare: ({ header }) => ({ outbound: (request) => ({ ...request, headers: { ...request.headers, [header]: '1' } }) }),
 * })
 */
export function definePlugin<Config, const Name extends string, Given>(
  kind: PluginKind<Config, Name, Given> & Required<Pick<PluginKind, 'fill'>>,
): PluginKind<Config, Name, Partial<Given>>
export function definePlugin<Config, const Name extends string, Given>(
  kind: PluginKind<Config, Name, Given>,
): PluginKind<Config, Name, Given>
export function definePlugin(kind: PluginKind): PluginKind {
  return kind
}

type ConfigOf<Given> = unknown extends Given ? Readonly<Record<string, unknown>> : Given

/** The config of each plugin by name: of the built-in kinds, and of those that a host registers. */
export type PluginsOf<Kinds extends readonly PluginKind[]> = [Kinds[number]] extends [never]
  ? BuiltInPlugins
  : string extends Kinds[number]['name']
    ? AnyPlugins
    : BuiltInPlugins & {
        readonly [Kind in Kinds[number] as Kind['name']]: Kind extends PluginKind<unknown, string, infer Given>
          ? ConfigOf<Given>
          : never
      }

/** The kinds of this process, in the order they run. */
export interface PluginRegistry {
  get(name: string): PluginKind | undefined
  /** Every kind that is registered. */
  all(): readonly PluginKind[]
  /** The place of a kind in the run order. */
  rank(name: string): number
  /**
   * Resolves when the kinds that are named, or all, have loaded what they need. @throws what the `load` of a kind
   * throws
   */
  ready(platform: Platform, names?: readonly string[]): Promise<void>
}
