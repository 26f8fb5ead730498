/** A request that reached a source. `path` is the source's, without the mount prefix; `body` is as received. */
export interface Inbound {
  readonly method: string
  readonly url: URL
  readonly path: string
  readonly headers: Headers
  readonly body: Uint8Array
}

/** A request about to be sent. Header names are lower-case. `body` is null where the method carries none. */
export interface Outbound {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}
