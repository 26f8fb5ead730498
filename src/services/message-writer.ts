import type { Context } from '../context.ts'
import type { Message, NewMessage, PutAnswer } from '../contracts/inbox.ts'
import { maxUsualData } from '../core/large-data.ts'
import { PosthornError } from '../errors.ts'
import type { Batcher } from '../runtime/batcher.ts'
import { lanes } from '../runtime/lanes.ts'

/** Puts messages into the inbox, several in a call. */
export class MessageWriter {
  readonly #ctx: Context
  readonly #puts: Batcher<NewMessage, PutAnswer>

  constructor(ctx: Context) {
    this.#ctx = ctx
    this.#puts = lanes({
      flush: (messages) => ctx.inbox.put(messages),
      bytesOf: ({ data }) => data.length,
      workspaceOf: ({ workspaceId }) => workspaceId,
      clock: ctx.clock,
      batches: ctx.batches,
      resends: ctx.resends,
      onOverload: () => ctx.emit('overloaded', { what: 'storage' }),
      isWide: ({ data }) => data.length > maxUsualData,
      maxWideInFlight: 1,
    })
  }

  /** Resolves when the message is in the inbox. Where this process has a worker with room, that stores the event at once. */
  async put(message: Message): Promise<void> {
    const handed = this.#ctx.handOff.messagesTo?.take(message)
    let answer: PutAnswer | undefined
    try {
      answer = await this.#puts.add(handed?.message ?? message)
    } finally {
      if (answer?.kind !== 'stored') handed?.notStored()
    }
    if (answer.kind === 'rejected') {
      throw new PosthornError('internal', 'the inbox refused the event', { cause: answer.cause })
    }
    handed?.stored(answer.held === true)
  }

  /** Resolves when nothing waits to be put. */
  idle(): Promise<void> {
    return this.#puts.idle()
  }

  /** Rejects with `unavailable` what waits for the inbox. */
  giveUp(): void {
    this.#puts.giveUp()
  }
}
