/** A request that reached a source. */
export interface Inbound {
  /** Method. */
  readonly method: string
  /** The URL as the host got it. */
  readonly url: URL
  /** The path of the source, without the prefix of the mount. */
  readonly path: string
  /** Headers. */
  readonly headers: Headers
  /** Body, as received. */
  readonly body: Uint8Array
}

/** A request about to be sent. */
export interface Outbound {
  /** Method. */
  readonly method: string
  /** URL. */
  readonly url: string
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Body; null where the method carries none. */
  readonly body: string | null
}
