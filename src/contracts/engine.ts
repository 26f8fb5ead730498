/** What a storage, a queue, an inbox or a limiter may offer in addition to its own work. */
export interface EnginePart {
  /**
   * What the host should set on the client that it brought, or what the client lacks: a sentence for each. `start` logs
   * them as warnings.
   */
  advice?(): readonly string[]
  /**
   * Whether news of other processes arrive: false while the connection on which they come is silent or being replaced. An
   * answer takes at most 4 s. Polling goes on meanwhile.
   */
  listening?(): boolean | Promise<boolean>
  /**
   * The last step of each `stop`. Closes the connections that the engine opened by itself, never those of the host's
   * client. A later call of the engine opens them again.
   */
  stopped?(): Promise<void>
}
