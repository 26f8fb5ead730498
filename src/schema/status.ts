/** The report of an instance. Counters are of this process since its start; figures a runtime cannot tell are 0. */
export interface StatusReport {
  /** Such as `1m5s`. */
  readonly uptime: string
  readonly runtime: { readonly go: string; readonly goroutines: number }
  /** Sizes as `3.52 MiB`. */
  readonly memory: {
    readonly alloc: string
    readonly sys: string
    readonly heap_alloc: string
    readonly heap_idle: string
    readonly heap_inuse: string
    readonly heap_objects: number
    readonly gc: number
  }
  readonly database: { readonly total_connections: number; readonly active_connections: number }
  readonly inbound_requests: number
  readonly inbound_failed_requests: number
  readonly outbound_requests: number
  readonly outbound_processing_requests: number
  readonly outbound_failed_requests: number
  readonly queue: { readonly size: number; readonly backlog_latency_secs: number }
  readonly event: { readonly pending: number }
}

export interface ComponentHealth {
  readonly status: 'UP' | 'DOWN'
  readonly error?: string
  /**
   * False while the connection on which the engine tells news of other processes is silent or being replaced: polling
   * finds jobs meanwhile, within seconds. Missing when news arrive, and where the engine has no such connection.
   */
  readonly listening?: false
}

export interface HealthReport {
  readonly status: 'UP' | 'DOWN'
  readonly components: { readonly storage: ComponentHealth; readonly queue: ComponentHealth }
}
