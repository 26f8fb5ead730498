/**
 * The report of an instance. Counters are those of this process since it started. Figures that a runtime cannot tell
 * are 0.
 */
export interface StatusReport {
  /** How long the process has run, such as `1m5s`. */
  readonly uptime: string
  /** The runtime. */
  readonly runtime: RuntimeReport
  /** Memory of the process, sizes as `3.52 MiB`. */
  readonly memory: MemoryReport
  /** Connections of the storage. */
  readonly database: DatabaseReport
  /** Requests that reached the gateway. */
  readonly inbound_requests: number
  /** Those of them that did not become an event. */
  readonly inbound_failed_requests: number
  /** Deliveries that were sent. */
  readonly outbound_requests: number
  /** Deliveries that are under way. */
  readonly outbound_processing_requests: number
  /** Deliveries that failed. */
  readonly outbound_failed_requests: number
  /** The queue. */
  readonly queue: QueueReport
  /** Accepted events. */
  readonly event: EventReport
}

/** The runtime of a process, in WebhookX' names. */
export interface RuntimeReport {
  /** Name and version of the runtime, such as `node v22.1.0`. */
  readonly go: string
  /** Open handles. */
  readonly goroutines: number
}

/** Memory of a process, in WebhookX' names. Sizes as `3.52 MiB`. */
export interface MemoryReport {
  /** Heap in use. */
  readonly alloc: string
  /** Resident set. */
  readonly sys: string
  /** Heap in use. */
  readonly heap_alloc: string
  /** Heap that is reserved and not in use. */
  readonly heap_idle: string
  /** Heap in use. */
  readonly heap_inuse: string
  /** Objects on the heap. */
  readonly heap_objects: number
  /** Collections since the start. */
  readonly gc: number
}

/** Connections of the storage. */
export interface DatabaseReport {
  /** All connections. */
  readonly total_connections: number
  /** Those at work. */
  readonly active_connections: number
}

/** The queue. */
export interface QueueReport {
  /** Jobs that wait, those due later included. */
  readonly size: number
  /** How long the oldest due job has waited, seconds. */
  readonly backlog_latency_secs: number
}

/** Accepted events. */
export interface EventReport {
  /** Events of async sources that are accepted and not yet stored. */
  readonly pending: number
}

/** Health of one component. */
export interface ComponentHealth {
  /** Whether it answers and takes writes. */
  readonly status: 'UP' | 'DOWN'
  /** What is wrong, where it is DOWN. */
  readonly error?: string
  /**
   * False while the connection on which the engine tells news of other processes is silent or being replaced: polling
   * finds jobs meanwhile, within seconds. Missing when news arrive, and where the engine has no such connection.
   */
  readonly listening?: false
}

/** Whether an instance works. */
export interface HealthReport {
  /** UP when all components are. */
  readonly status: 'UP' | 'DOWN'
  /** Each component. */
  readonly components: HealthComponents
}

/** The components of an instance. */
export interface HealthComponents {
  /** The storage. */
  readonly storage: ComponentHealth
  /** The queue. */
  readonly queue: ComponentHealth
}
