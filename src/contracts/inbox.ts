import type { EnginePart } from './engine.ts'

/** An event accepted by an async source and not yet stored. `data` is its text. */
export interface Message {
  readonly id: string
  readonly workspaceId: string
  readonly event_type: string
  readonly data: string
  readonly unique_id: string | null
  readonly received_at: number
  /** The trace context in which it was accepted: a W3C traceparent, at most 55 characters. */
  readonly trace?: string
}

/**
 * A message to be stored. With a `lease` it is stored as taken once, with that token, until `until` (unix milliseconds):
 * the caller handles it as soon as it is stored, and nothing has to take it.
 */
export interface NewMessage extends Message {
  readonly lease?: { readonly token: string; readonly until: number }
}

/** A message held until its lease ends. `tries` counts how often it was taken, this time included. */
export interface Taken extends Message {
  readonly token: string
  readonly tries: number
}

/**
 * `stored`: `held` where the message is held with the lease that came with it. An inbox that takes no leases leaves that out, and
 * gives the message to a later take. `rejected`: the engine refused this message alone.
 */
export type PutAnswer =
  | { readonly kind: 'stored'; readonly held?: true }
  | { readonly kind: 'rejected'; readonly cause: unknown }

export interface TakeOptions {
  /** The most messages to take. */
  readonly limit: number
  /** The most bytes of UTF-8 that their data has together, unless one message alone has more. */
  readonly maxBytes: number
  /** How long the caller holds them. */
  readonly leaseMs: number
  /** Unix milliseconds. */
  readonly now: number
  /** Workspaces, by id, that this caller takes nothing of now. Other callers do. Default: none. */
  readonly leaveOut?: ReadonlySet<string>
}

/**
 * Accepted but not yet stored events. Unlike the queue it holds the data, so it is as durable as its engine. The
 * messages of a workspace are ordered by `received_at` or by when they were put, as the engine can: between processes
 * the two orders may differ a little.
 */
export interface Inbox extends EnginePart {
  /**
   * Stores messages, and answers message by message. A message whose id exists already is left as it is, and 'stored'; `held`
   * too where it is held with the token of its lease, so that a call may be repeated.
   */
  put(messages: readonly NewMessage[]): Promise<readonly PutAnswer[]>
  /**
   * Takes up to `limit` waiting messages in turns by workspace: one message of each, then a second message of each, and
   * so on, as long as their data has at most `maxBytes` bytes of UTF-8 together. The first message is taken whatever
   * its size. Within a workspace the oldest come first, by `received_at`, then id. Workspaces come in the order of
   * their ids, beginning after the workspace with which the last take of this caller ended; after the last comes the
   * first. A message whose hold lapsed waits again. Two callers never hold the same message. Messages of a take whose
   * answer did not come are given back by a later take through the same object, before they lapse; that was no try.
   */
  take(options: TakeOptions): Promise<readonly Taken[]>
  /** Removes messages that are held with these tokens. */
  done(taken: readonly Taken[]): Promise<void>
  /**
   * Gives back messages that are held with these tokens: they wait again at their places, and that was no try. An inbox
   * without it gives them to a later take when their holds lapse.
   */
  release?(taken: readonly Taken[]): Promise<void>
  /** Moves messages to the dead list, where nothing takes them. */
  bury(taken: readonly Taken[], reason: string): Promise<void>
  /** Messages waiting and held, without the dead. */
  size(): Promise<number>
  /** Calls `wake` when messages without a lease were put anywhere: a hint. Answers how to stop. */
  onPut?(wake: () => void): Promise<() => Promise<void>>
}
