/** Tells whoever follows it that a piece of work is to end. */
export interface Cancelable {
  readonly canceled: boolean
  /** Calls `onCancel` once, when it is canceled. */
  follow(onCancel: () => void): void
  unfollow(onCancel: () => void): void
}
