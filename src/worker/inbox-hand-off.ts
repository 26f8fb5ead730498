import type { Context, HandedMessage, MessageHandOff } from '../context.ts'
import type { Message } from '../contracts/inbox.ts'
import { tenantShares } from '../core/tenants.ts'
import { maxMessageBytes, maxMessages } from './in-hand.ts'
import { type InboxConsumer, messageLeaseMs, minLeaseMs } from './inbox.ts'

interface Needs {
  readonly ctx: Context
  readonly inbox: InboxConsumer
  /** Aborts when the worker stops. */
  readonly signal: AbortSignal
}

/**
 * Takes messages over from the gateway of this process: they are put as held by its worker, so nothing has to take them from the
 * inbox. Only while nothing older waits there, and as long as the workspace has a share of what this process may have in hand. A
 * crash leaves a lease, as after a take.
 */
export class LocalMessageHandOff implements MessageHandOff {
  readonly #needs: Needs
  readonly #messages = tenantShares(maxMessages)
  readonly #bytes = tenantShares(maxMessageBytes)

  constructor(needs: Needs) {
    this.#needs = needs
  }

  take(message: Message): HandedMessage | null {
    const { ctx, inbox, signal } = this.#needs
    const free = inbox.mayWait || signal.aborted ? null : this.#takeShare(message)
    if (free === null) {
      inbox.added()
      return null
    }
    const lease = { token: ctx.newId(), until: ctx.clock.now() + messageLeaseMs }
    return {
      message: { ...message, lease },
      stored: (held) => {
        const isFresh = ctx.clock.now() < lease.until - minLeaseMs
        if (held && isFresh)
          return void inbox.handle({ ...message, token: lease.token, tries: 1 }, signal).finally(free)
        free()
        inbox.added()
      },
      notStored: free,
    }
  }

  /** Answers how to give the share back; null where the workspace has none left. */
  #takeShare({ workspaceId, data }: Message): (() => void) | null {
    const tenant = { workspace: workspaceId, owner: workspaceId }
    const bytes = Math.max(data.length, 1)
    if (!this.#messages.take(tenant, 1)) return null
    if (!this.#bytes.take(tenant, bytes)) {
      this.#messages.give(tenant, 1)
      return null
    }
    return () => {
      this.#messages.give(tenant, 1)
      this.#bytes.give(tenant, bytes)
    }
  }
}
