/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  /** Id of the workspace that the request is about; empty for a request about none. */
  readonly workspace_id: string
  /** The key, unique in the workspace. */
  readonly key: string
  /** Tells the request from others under the same key. */
  readonly hash: string
  /** Names the call that does the request. */
  readonly token: string
  /** When the key was used first, unix milliseconds. */
  readonly begun_at: number
  /** Until when no other call does the request, unix milliseconds; null once it is answered. */
  readonly lease_until: number | null
  /** What is stored with the key. */
  readonly note: string
}

/** A call that does a request. */
export type KeyHolder = Pick<KeyedRequest, 'workspace_id' | 'key' | 'token'>

/** Requests that are done once, however often they come. */
export interface KeyedRequests {
  /**
   * Stores a request under its key, unless the key holds a request already, and answers what the key holds afterwards:
   * this call's request when the answer has this call's token. This call gets the key when the key is new, or was first
   * used before `before`. It also gets the key when a call with the same hash let its lease end (by the `begun_at` of
   * this call) without an answer: then `begun_at` and `note` stay those of that call.
   */
  take(request: KeyedRequest, before: number): Promise<KeyedRequest>
  /** Stores a note and until when it stands, where the call still has the key. */
  update(holder: KeyHolder & Pick<KeyedRequest, 'lease_until' | 'note'>): Promise<void>
  /** Makes the key new again, where the call still has it. */
  release(holder: KeyHolder): Promise<void>
  /** Forgets at most `limit` keys that were used first before this time. Answers how many, 0 when none is left. */
  forget(before: number, limit: number): Promise<number>
}
