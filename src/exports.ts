// What every entry of the package exports beside `createPosthorn`.
export {
  type ErrorBody,
  type ErrorCode,
  type FieldError,
  type FieldErrors,
  isRetryable,
  PosthornError,
} from './errors.ts'
export { definePlugin } from './contracts/plugin.ts'
export type {
  Awaitable,
  Inbound,
  InboundContext,
  Outbound,
  OutboundContext,
  PluginKind,
  PreparedPlugin,
} from './contracts/plugin.ts'
export type { Clock } from './contracts/clock.ts'
export type { HttpClient, Reply, SendOptions } from './contracts/http-client.ts'
export type { KeyProvider } from './contracts/key-provider.ts'
export type { Inbox, Message, PutAnswer, Taken } from './contracts/inbox.ts'
export type { Grant, Limiter, Want } from './contracts/limiter.ts'
export type { Logger, SignalListener, SignalName, Signals } from './contracts/observer.ts'
export type { Claim, ClaimOptions, Job, Queue, SlotsInUse } from './contracts/queue.ts'
export type { AttemptEnd, Attempting, Followed, PublishEnd, Publishing, Telemetry } from './contracts/telemetry.ts'
export type {
  Cipher,
  HashName,
  Platform,
  Proxy,
  ProxyTls,
  SendRules,
  Thread,
  ThreadScript,
  Vitals,
} from './contracts/platform.ts'
export type {
  Bounds,
  Change,
  Collection,
  ConfigPlan,
  Configuration,
  Inserted,
  OwnedQuery,
  PluginQuery,
  Route,
  Stored,
  Updated,
  Violation,
  Workspaces,
} from './contracts/storage/configuration.ts'
export type {
  AttemptQuery,
  Attempts,
  Delivery,
  Enqueueing,
  NewAttempt,
  Settled,
  Settlement,
  StoredAttempt,
  StoredRequest,
  StoredStatus,
  Undelivered,
} from './contracts/storage/attempts.ts'
export type { BoundStorage, Storage } from './contracts/storage.ts'
export type { EventQuery, Events, IngestAnswer, IngestEntry } from './contracts/storage/events.ts'
export type { ListQuery, Page, TimeRange } from './contracts/storage/list.ts'
export type {
  AdminOptions,
  Authorize,
  BreakerOptions,
  DeliverOptions,
  GatewayOptions,
  OpenApiOptions,
  Options,
  LimitOptions,
  RetentionOptions,
  SecretsOptions,
} from './options.ts'
export type {
  Attempt,
  AttemptErrorCode,
  AttemptRequest,
  AttemptResponse,
  AttemptStatus,
  FinalStatus,
  TriggerMode,
} from './schema/attempt.ts'
export type { ConfigDocument, SyncCounts, SyncReport } from './schema/config.ts'
export type { Endpoint, EndpointInput } from './schema/endpoint.ts'
export type { Event, StoredEvent } from './schema/event.ts'
export type {
  CatalogueEvent,
  EventCatalogue,
  EventInput,
  EventSchema,
  SchemaIssue,
  SchemaResult,
} from './schema/catalogue.ts'
export { JsonText } from './schema/json-text.ts'
export type { CursorPage, ListInput, OffsetPage, TimeFilter } from './schema/page.ts'
export type { Plugin, PluginInput } from './schema/plugin.ts'
export type { Metadata, RateLimit } from './schema/shared.ts'
export type { RotateInput } from './schema/rotate-secret.ts'
export type { EndpointSecret, ResealReport, SecretsStatus, ShownAs } from './schema/secrets.ts'
export type { Source, SourceInput } from './schema/source.ts'
export type { ComponentHealth, HealthReport, StatusReport } from './schema/status.ts'
export type { EnsureWorkspaceInput, Workspace, WorkspaceInput } from './schema/workspace.ts'
export type { AttemptListInput, AttemptService } from './surface/attempts.ts'
export type { ConfigService } from './surface/config.ts'
export type { EndpointService, TestInput } from './surface/endpoints.ts'
export type { EventListInput, Explanation, EventService, ReplayInput, ReplayReport } from './surface/events.ts'
export type { ServiceFunctions } from './surface/functions.ts'
export type { Handler } from './surface/handler.ts'
export type { CursorQuery, Listed, NamedListInput, OffsetQuery, OwnedListInput, PageOf } from './surface/lists.ts'
export type { PluginListInput, PluginService } from './surface/plugins.ts'
export type { BoundPosthorn, Posthorn } from './surface/posthorn.ts'
export type { ResourceService } from './surface/resource.ts'
export type { SecretsService } from './surface/secrets.ts'
export type { SourceService } from './surface/sources.ts'
export type { TickReport, Worker } from './surface/worker.ts'
export type { WorkspaceService } from './surface/workspaces.ts'
