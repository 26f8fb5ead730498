/** The storing of one event. `parent` is the trace context in which the event was accepted, where that was recorded. */
export interface Publishing {
  readonly workspaceId: string
  readonly eventId: string
  readonly eventType: string
  readonly parent: string | null
}

/** One try to deliver an event. `parent` is the trace context that was stored with the event. */
export interface Attempting {
  readonly workspaceId: string
  readonly eventId: string
  readonly eventType: string
  readonly endpointId: string
  readonly attemptId: string
  readonly attemptNumber: number
  readonly method: string
  readonly url: string
  readonly parent: string | null
}

/**
 * How a try ended: the status that was answered, or why none was. `busy`: this process had no place for it, nothing was
 * sent, and the attempt waits in the queue again. `seconds` is the time of the request.
 */
export interface AttemptEnd {
  readonly status: number | null
  readonly error: 'timeout' | 'failed' | 'denied' | 'plugin_error' | 'busy' | 'aborted' | null
  readonly seconds: number
}

/** `stale`: the configuration had moved on, and the event is matched and stored anew. */
export interface PublishEnd {
  readonly result: 'stored' | 'duplicate' | 'stale' | 'failed'
  readonly seconds: number
}

/** Something that is followed until it ends. */
export interface Followed<End> {
  /**
   * The trace context to which later work belongs, as a W3C traceparent of at most 55 characters; null when nobody
   * records a trace.
   */
  readonly trace: string | null
  /** Runs work that belongs to it. */
  within<Answer>(work: () => Answer): Answer
  end(end: End): void
}

/**
 * Follows events from publishing to their attempts, as `createPosthorn({ telemetry })`. The trace context is stored with an
 * event and sent with each of its deliveries. Implementations do not throw and change nothing of what happens.
 */
export interface Telemetry {
  /** The trace context that the caller is in; null when it is in none. */
  current(): string | null
  publish(about: Publishing): Followed<PublishEnd>
  attempt(about: Attempting): Followed<AttemptEnd>
}
