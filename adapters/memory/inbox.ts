import type { Inbox, PutAnswer, Taken } from '../../src/contracts/inbox.ts'
import type { Access, KeptMessage, State } from './state.ts'
import { add, first, noTime, remove } from './sorted.ts'

/** The most buried messages that are kept for a look. */
const deadKept = 1000

const encoder = new TextEncoder()

/** The inbox over its part of the state. */
export function memoryInbox(access: Access, onPut: NonNullable<Inbox['onPut']>): Inbox {
  return {
    onPut,

    put: (messages) =>
      access.write((state) => {
        const { inbox } = state
        return messages.map((message): PutAnswer => {
          if (!Number.isFinite(message.received_at)) return { kind: 'rejected', cause: noTime() }
          if (inbox.messages.has(message.id) || inbox.dead.has(message.id)) return { kind: 'stored' }
          inbox.messages.set(message.id, { message: { ...message }, token: null, heldUntil: 0, tries: 0 })
          add(inbox.waiting, [message.received_at, message.id])
          state.news.messages = true
          return { kind: 'stored' }
        })
      }),

    take: ({ limit, maxBytes, leaseMs, now }) =>
      access.write((state) => {
        const { held, messages, waiting } = state.inbox
        for (let next = first(held); next !== undefined && next[0] <= now; next = first(held)) {
          remove(held, next)
          add(waiting, [messages.get(next[1])!.message.received_at, next[1]])
        }
        const taken: Taken[] = []
        let bytes = 0
        while (taken.length < limit) {
          const id = first(waiting)?.[1]
          if (id === undefined) break
          const kept = messages.get(id)!
          bytes += encoder.encode(kept.message.data).byteLength
          if (taken.length > 0 && bytes > maxBytes) break
          remove(waiting, [kept.message.received_at, id])
          kept.token = String(++state.token)
          kept.heldUntil = now + leaseMs
          kept.tries++
          add(held, [kept.heldUntil, id])
          taken.push({ ...kept.message, token: kept.token, tries: kept.tries })
        }
        return taken
      }),

    done: (taken) =>
      access.write((state) => {
        for (const hold of taken) takeOut(state, hold)
      }),

    bury: (taken, reason) =>
      access.write((state) => {
        const { dead } = state.inbox
        for (const hold of taken) {
          const kept = takeOut(state, hold)
          if (kept !== null) dead.set(hold.id, { message: kept.message, reason })
        }
        for (const id of dead.keys()) {
          if (dead.size <= deadKept) break
          dead.delete(id)
        }
      }),

    size: () => access.read((state) => state.inbox.messages.size),
  }
}

/** Removes a message if this is its last hold. */
function takeOut({ inbox }: State, hold: Taken): KeptMessage | null {
  const kept = inbox.messages.get(hold.id)
  if (kept === undefined || kept.token !== hold.token) return null
  inbox.messages.delete(hold.id)
  remove(inbox.held, [kept.heldUntil, hold.id])
  remove(inbox.waiting, [kept.message.received_at, hold.id])
  return kept
}
