/**
 * Wraps data keys, as a KMS does. A data key has 32 bytes; `context` names the workspace that the data key is for, and may
 * be bound to what is wrapped. A call has five seconds; a call that fails is made again with the next value.
 */
export interface KeyProvider {
  /** As it stands in sealed values. 1 to 64 of `A-Z a-z 0-9 _ . -`; default `provider`. */
  readonly id?: string
  wrap(bytes: Uint8Array, context: { readonly workspace: string }): Promise<Uint8Array>
  unwrap(bytes: Uint8Array, context: { readonly workspace: string }): Promise<Uint8Array>
}
