import type { Clock } from './contracts/clock.ts'
import type { HttpClient } from './contracts/http-client.ts'
import type { Inbox } from './contracts/inbox.ts'
import type { Limiter } from './contracts/limiter.ts'
import type { KeyProvider } from './contracts/key-provider.ts'
import type { Logger } from './contracts/observer.ts'
import type { Proxy } from './contracts/platform.ts'
import type { PluginKind } from './contracts/plugin.ts'
import type { Queue } from './contracts/queue.ts'
import type { Storage } from './contracts/storage.ts'
import type { Telemetry } from './contracts/telemetry.ts'
import type { AnyEvents, EventEntry, EventSchema } from './schema/catalogue.ts'
import type { RetryInput } from './schema/endpoint.ts'
import type { RateLimit } from './schema/shared.ts'

/**
 * Answers whether a request may go on: false is a 403, a Response is sent as it is. `{ actor }` lets the request pass and says who
 * makes it: `posthorn.on('change')` and the log tell that.
 */
export type Authorize = (
  request: Request,
  what: {
    /** The service function's name, such as `endpoints.update`. */
    readonly operation: string
    /** The workspace that the path names, resolved; null when the path names no workspace. */
    readonly workspace: { readonly id: string; readonly name: string | null } | null
    readonly params: Readonly<Record<string, string>>
  },
) => Verdict | Promise<Verdict>

/** What `authorize` may answer. */
export type Verdict = boolean | Response | { readonly actor: string }

/** The administrative API. */
export interface AdminOptions {
  /** The path prefix the handler is mounted under. Default ''. */
  readonly basePath?: string
  /** Default 16 MiB. */
  readonly maxBodyBytes?: number
  /** Judges each request before it does anything. Default: every request may go on. */
  readonly authorize?: Authorize
  /**
   * Origins whose pages may use the API from a browser, such as `https://console.example.com`. Default: only the origin
   * of the API.
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * The url under which browsers reach the API, where a proxy changes `Host`. The OpenAPI document names this url, with
   * `basePath` where the url has no path. Default: that of the request.
   */
  readonly publicUrl?: string
  /** Hosts under which the API answers, with a port or for all ports; others are 403. Default: any. */
  readonly allowedHosts?: readonly string[]
  /** What `/openapi.json` says beside the API itself. Default: nothing. */
  readonly openapi?: OpenApiOptions
}

/** Parts of the host's that stand in the OpenAPI document, as OpenAPI 3.1 writes them. */
export interface OpenApiOptions {
  /** What a request must bring, such as `[{ bearer: [] }]`. Default `[]`. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  /** What `security` names, such as `{ bearer: { type: 'http', scheme: 'bearer' } }`. Default: none. */
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Properties of `info`, such as `title`; those that are not given stay as they are. */
  readonly info?: Readonly<Record<string, unknown>>
}

/** Where inbound requests become events. */
export interface GatewayOptions {
  /** The path prefix the handler is mounted under. Default ''. */
  readonly basePath?: string
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number
  /**
   * Requests that may wait for storage at once; more are answered 503. A single workspace gets at most about three
   * quarters of them. Default 10,000.
   */
  readonly maxPending?: number
  /**
   * How long a body may take from the first byte to the last, milliseconds; a slower body is answered 408. Default
   * 30,000.
   */
  readonly bodyTimeoutMs?: number
  /**
   * How many bytes of a body this process holds in memory with the last requests of a source, for `sources.requests`: 0
   * to 65,536. Default 0: nothing.
   */
  readonly captureBytes?: number
}

/** What an endpoint has that says nothing else. */
export interface EndpointDefaults {
  /** When a delivery that failed is tried again. Default: at once, after a minute, after an hour. */
  readonly retry?: RetryInput | null | undefined
  /** How long the receiver may take, milliseconds, 0 to 60,000; 0 means `deliver.timeoutMs`. Default 10,000. */
  readonly timeout?: number
  /** How many deliveries pass. Default: no limit. */
  readonly rate_limit?: RateLimit
}

/** How deliveries are sent. */
export interface DeliverOptions {
  /** Requests in flight in this process. Default 256. */
  readonly concurrency?: number
  /** Requests in flight to one endpoint in this process. Default 16. */
  readonly perEndpoint?: number
  /** For endpoints whose `request.timeout` is 0, milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  /** Bytes stored of each recorded body and header block. Default 65,536. */
  readonly captureBytes?: number
  /** Headers recorded as `***`. Default authorization, cookie, proxy-authorization, x-api-key. */
  readonly redactHeaders?: readonly string[]
  /**
   * Headers of endpoints whose values are secrets, beside those of `redactHeaders`: recorded as `***`, sealed and masked where
   * `secrets` is set. Default with `secrets`: x-auth-token, api-key, x-signature-key, proxy-authorization; else none.
   */
  readonly secretHeaders?: readonly string[]
  /** Where nothing may be sent: IP, CIDR, hostname, `*.suffix`, or a group. Default `['@default']`; `[]` turns it off. */
  readonly deny?: readonly string[]
  /** Exceptions from `deny`. Default none. */
  readonly allow?: readonly string[]
  /** Refuses http urls when an endpoint is written. A url that is stored already stays. Default false. */
  readonly httpsOnly?: boolean
  /**
   * A forward proxy that deliveries go through, with `tls: { ca, cert, key, rejectUnauthorized }` for a proxy that speaks TLS.
   * `deny` and `allow` judge receivers, not the proxy. Default: none. Not on Bun, nor on edge runtimes, nor with `http`.
   */
  readonly proxy?: Proxy
  /** Default `Posthorn/<version>`. */
  readonly userAgent?: string
  /** `standard-webhooks` gives every new endpoint that plugin with a fresh secret in the same step. Default `none`. */
  readonly sign?: 'none' | 'standard-webhooks'
  /** What an endpoint has that says nothing else. Default: the defaults of `EndpointInput`. */
  readonly defaults?: EndpointDefaults
  /**
   * Disables an endpoint with at least ten exhausted deliveries and no success for so many days, counted from the
   * first of them. At half the time `endpoint.failing` tells. Default: off; 5 is recommended.
   */
  readonly disableAfterDays?: number
}

/** How many rows of a kind a workspace may have, and how long they may be together. */
export interface LimitOptions {
  /** Default 10,000. */
  readonly endpoints?: number
  /** Default 10,000. */
  readonly sources?: number
  /** Default 10,000. */
  readonly plugins?: number
  /**
   * Bytes of JSON of all endpoints, sources and plugins of a workspace: each process keeps them in memory. A write that
   * makes them more is refused; while several processes write, each may go beyond by an eighth. Default 33,554,432 (32 MiB).
   */
  readonly bytes?: number
}

/** What is removed when it is old. */
export interface RetentionOptions {
  /**
   * Events older than this many days are removed with their attempts, unless an attempt is open. Default: never
   * removed.
   */
  readonly eventsDays?: number
  /** Finished attempts older than this many days are removed. Default: never removed. */
  readonly attemptsDays?: number
  /** Statistics older than this many days are removed. Default 400. */
  readonly statsDays?: number
}

/** Where operational events are published: `posthorn.endpoint.disabled` and others, as docs/operational-events.md lists. */
export interface OperationsOptions {
  /** Id or name of the workspace. If it does not exist, it is made, with this id. */
  readonly workspace: string
}

/** Seals secrets at rest. At least one of `keys` and `provider` is given. */
export interface SecretsOptions {
  /** `key`: 32 bytes in base64. The first key seals, all open. Ids are 1 to 64 of `A-Z a-z 0-9 _ . -`. */
  readonly keys?: readonly { readonly id: string; readonly key: string }[]
  /** A KMS. It seals where it is given, and the keys open what they sealed before. */
  readonly provider?: KeyProvider
}

/** Disables an endpoint of whose attempts in the window at least `failurePercent` failed, of at least `minimum`. */
export interface BreakerOptions {
  /** Default 3600; at least a minute, at most a week. */
  readonly windowSeconds?: number
  /** Default 80. */
  readonly failurePercent?: number
  /** Default 100. */
  readonly minimum?: number
}

/** The options of `createPosthorn`. */
export interface Options<
  Events extends AnyEvents = AnyEvents,
  Kinds extends readonly PluginKind[] = readonly PluginKind[],
> {
  /** Where everything is stored. Default: memory. */
  readonly storage?: Storage
  /** Default: the storage's own. */
  readonly queue?: Queue
  /** Default: the storage's own. */
  readonly inbox?: Inbox
  /** Default: the storage's own. */
  readonly limiter?: Limiter
  /** Default: the system's, corrected by the engine's time. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly http?: HttpClient
  /** Console-like. Default: the console, warnings and errors. */
  readonly logger?: Logger
  /** Follows events from publishing to their attempts, such as `openTelemetry()` of `posthorn/otel`. Default: none. */
  readonly telemetry?: Telemetry
  /** The administrative API. */
  readonly admin?: AdminOptions
  /** Where inbound requests become events. */
  readonly gateway?: GatewayOptions
  /** How deliveries are sent. */
  readonly deliver?: DeliverOptions
  /** How many endpoints, sources and plugins a workspace may have. Default 10,000 each, of 32 MiB together. */
  readonly limits?: LimitOptions
  /** Default: events and attempts are never removed, statistics after 400 days. */
  readonly retention?: RetentionOptions
  /** Publishes what goes wrong as events of a workspace, which endpoints of that workspace receive. Default: off. */
  readonly operations?: OperationsOptions
  /** Keys that seal signing secrets, secrets of plugins and secret headers at rest. Default: they are stored as they are. */
  readonly secrets?: SecretsOptions
  /** Default: off. */
  readonly breaker?: BreakerOptions
  /**
   * The event types of the host, each with a Standard Schema of its `data`, or `{ schema, description, example,
   * deprecated, group, hidden }`, which `eventTypes.list` answers. Then `events.create` takes these alone, typed, and
   * every event of such a type is checked, from wherever it comes. Default: none, and nothing is checked.
   */
  readonly events?: { readonly [Type in keyof Events]: EventSchema<Events[Type]> | EventEntry<Events[Type]> }
  /** Refuses events whose type is not in `events`, from the admin API and the gateway too. Default false. */
  readonly strictEvents?: boolean
  /** Kinds beside the built-in kinds. */
  readonly plugins?: Kinds
  /** Refuses a handle given to `using` that is outside a transaction. Default true. */
  readonly requireTransaction?: boolean
  /**
   * `webhookx`: for receivers and scripts that know WebhookX 1.2.0, answers, deliveries and syncs are closer to it, as
   * docs/moving-from-webhookx.md lists. Default: none.
   */
  readonly compatible?: 'webhookx'
}
