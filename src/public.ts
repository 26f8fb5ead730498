// What every entry of the package exports beside `createPosthorn`.
export {
  type ErrorBody,
  type ErrorCode,
  type FieldError,
  type FieldErrors,
  isRetryable,
  PosthornError,
} from './errors.ts'
export { backoff, type BackoffOptions } from './core/backoff.ts'
export { definePlugin } from './contracts/plugin.ts'
export type { Awaitable } from './contracts/awaitable.ts'
export type { InboundContext, OutboundContext, PluginKind, PreparedPlugin } from './contracts/plugin.ts'
export type { Inbound, Outbound } from './contracts/request.ts'
export type { Cancelable } from './contracts/cancelable.ts'
export type { Clock } from './contracts/clock.ts'
export type { HttpClient, Reply, SendOptions } from './contracts/http-client.ts'
export type { KeyProvider } from './contracts/key-provider.ts'
export type { Inbox, Message, PutAnswer, Taken } from './contracts/inbox.ts'
export type { Grant, Limiter, Want } from './contracts/limiter.ts'
export type { ConfigurationChange, Logger, SignalListener, SignalName, Signals } from './contracts/observer.ts'
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
  Adding,
  AttemptQuery,
  Attempts,
  Counted,
  Delivery,
  Enqueueing,
  Missing,
  NewAttempt,
  Settled,
  Settlement,
  StoredAttempt,
  StoredRequest,
  StoredStatus,
  Undelivered,
} from './contracts/storage/attempts.ts'
export type { Cause, CauseKind, Causes } from './contracts/storage/causes.ts'
export type { Process, Processes } from './contracts/storage/processes.ts'
export type {
  Counts,
  Grouping,
  Statistics,
  StatisticsQuery,
  StatisticsRow,
  Streak,
} from './contracts/storage/statistics.ts'
export type { BoundStorage, Storage } from './contracts/storage.ts'
export type {
  EventHead,
  EventQuery,
  Events,
  IngestAnswer,
  IngestEntry,
  TimelineQuery,
} from './contracts/storage/events.ts'
export type { ListQuery, Page, TimeRange } from './contracts/storage/list.ts'
export type {
  AdminOptions,
  Authorize,
  BreakerOptions,
  DeliverOptions,
  GatewayOptions,
  OpenApiOptions,
  OperationsOptions,
  Options,
  LimitOptions,
  RetentionOptions,
  SecretsOptions,
  Verdict,
} from './options.ts'
export type { BoundPosthorn, Posthorn, PublicEvents, ServiceFunctions } from './surface.ts'
export type { Handler } from './http/handler.ts'
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
export type { Delivery as DeliveryRow, DeliveryDetails, DeliveryStatus } from './schema/delivery.ts'
export type { DisabledReason, Endpoint, EndpointInput } from './schema/endpoint.ts'
export type { Event, EventInput, PublishAnswer, PublishedEvent, StoredEvent } from './schema/event.ts'
export type {
  CatalogueEvent,
  EventCatalogue,
  EventEntry,
  EventSchema,
  EventType,
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
export type { ProcessReport, SourceRequest, SourceRequests } from './schema/instance.ts'
export type {
  EndpointHealth,
  InstanceStatsInput,
  StatsBucket,
  StatsGroup,
  StatsInput,
  StatsReport,
  StatsStep,
} from './schema/stats.ts'
export type { ComponentHealth, HealthReport, StatusReport } from './schema/status.ts'
export type { EnsureWorkspaceInput, Workspace, WorkspaceInput, WorkspaceLimits } from './schema/workspace.ts'
export type {
  AttemptListInput,
  AttemptService,
  ConfigService,
  DeliveryListInput,
  DeliveryService,
  EndpointService,
  EraseInput,
  EraseReport,
  EventListInput,
  EventTypeService,
  ExplainOptions,
  Explanation,
  InstanceService,
  MergePatch,
  NamedListInput,
  OwnedListInput,
  PageOf,
  PluginListInput,
  ReplayInput,
  ReplayReport,
  ResourceService,
  SecretsService,
  SourceService,
  WorkspaceService,
} from './services/services.ts'
export type { TickReport } from './worker/passes.ts'
export type { Worker } from './worker/worker.ts'
