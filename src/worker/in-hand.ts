import type { Taken, TakeOptions } from '../contracts/inbox.ts'

/** The most messages of a take. */
export const maxMessages = 500
/** The most messages that are in hand at once, and the most bytes of their data, about. */
const maxInHand = 1000
export const maxMessageBytes = 16 * 1024 * 1024

/** What a take may take. */
export type Room = Required<Pick<TakeOptions, 'limit' | 'maxBytes' | 'leaveOut'>>

/**
 * What this process took from the inbox and has not stored yet. A take has half of the room that is left, and leaves out
 * the workspaces that have messages in hand: one whose events take long to store keeps no other waiting.
 */
export class InHand {
  #messages = 0
  #bytes = 0
  readonly #workspaces = new Map<string, number>()

  /** What the next take may take; null where there is no room. */
  room(): Room | null {
    const [messages, bytes] = [maxInHand - this.#messages, maxMessageBytes - this.#bytes]
    if (messages <= 0 || bytes <= 0) return null
    return {
      limit: Math.min(Math.ceil(messages / 2), maxMessages),
      maxBytes: Math.ceil(bytes / 2),
      leaveOut: new Set(this.#workspaces.keys()),
    }
  }

  /** Answers the messages by workspace, in their order. */
  add(messages: readonly Taken[]): readonly (readonly Taken[])[] {
    const shares = new Map<string, Taken[]>()
    for (const message of messages) {
      const share = shares.get(message.workspaceId)
      if (share === undefined) shares.set(message.workspaceId, [message])
      else share.push(message)
      this.#bytes += message.data.length
    }
    this.#messages += messages.length
    for (const [id, { length }] of shares) this.#workspaces.set(id, (this.#workspaces.get(id) ?? 0) + length)
    return [...shares.values()]
  }

  remove(messages: readonly Taken[]): void {
    for (const { workspaceId, data } of messages) {
      this.#messages--
      this.#bytes -= data.length
      const left = this.#workspaces.get(workspaceId)! - 1 // it was added
      if (left > 0) this.#workspaces.set(workspaceId, left)
      else this.#workspaces.delete(workspaceId)
    }
  }
}
