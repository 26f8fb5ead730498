// What writers of engines, HTTP clients and telemetry implement: the entry `posthorn/contracts`. Types alone.
export type { Clock } from './clock.ts'
export type { EnginePart } from './engine.ts'
export type { HttpClient, Reply, SendOptions } from './http-client.ts'
export type { Inbox, Message, PutAnswer, Taken, TakeOptions } from './inbox.ts'
export type { KeyProvider } from './key-provider.ts'
export type { Grant, Limiter, Want } from './limiter.ts'
export type { Cipher, HashName, Platform, SendRules, Thread, ThreadScript, Vitals } from './platform.ts'
export type { Proxy, ProxyTls } from './platform.ts'
export type { Awaitable } from './awaitable.ts'
export type { Cancelable } from './cancelable.ts'
export type {
  ConfigResult,
  ConfigSchema,
  ConfigSchemaProps,
  InboundContext,
  OutboundContext,
  PluginsOf,
  PreparedPlugin,
} from './plugin.ts'
export type { Claim, ClaimOptions, Job, Queue, SlotsInUse } from './queue.ts'
export type { BoundStorage, Storage } from './storage.ts'
export type {
  Adding,
  AttemptQuery,
  Attempts,
  Counted,
  Delivery,
  Enqueueing,
  Missing,
  NewAttempt,
  PlannedAttempt,
  Settled,
  Settlement,
  StoredAttempt,
  StoredRequest,
  StoredStatus,
  Undelivered,
} from './storage/attempts.ts'
export type {
  Bounds,
  Change,
  Collection,
  ConfigPlan,
  Configuration,
  ConfigurationSince,
  Inserted,
  OwnedQuery,
  PluginQuery,
  Route,
  RouteKey,
  Stored,
  Updated,
  Violation,
  Workspaces,
} from './storage/configuration.ts'
export type { Cause, CauseKind, Causes } from './storage/causes.ts'
export type { KeyedRequest, KeyedRequests, KeyHolder } from './storage/keyed-requests.ts'
export type { Process, Processes } from './storage/processes.ts'
export type { Counts, Grouping, Statistics, StatisticsQuery, StatisticsRow, Streak } from './storage/statistics.ts'
export type { EventHead, EventQuery, Events, IngestAnswer, IngestEntry, TimelineQuery } from './storage/events.ts'
export type { ListQuery, Page, TimeRange } from './storage/list.ts'
export type { AttemptEnd, Attempting, Followed, PublishEnd, Publishing, Telemetry } from './telemetry.ts'
export type { StoredEvent } from '../schema/event.ts'
export type { FinalStatus, TriggerMode } from '../schema/attempt.ts'
export type { Metadata, RateLimit } from '../schema/shared.ts'
