import type { Inbox, Message, PutAnswer, Taken } from '../../src/contracts/inbox.ts'
import type { Access, InboxState, KeptMessage, State } from './state.ts'
import { add, ascending, first, noTime, remove, sorted } from './sorted.ts'

/** The most buried messages that are stored, so that a person can look at them. */
const deadKept = 1000

const encoder = new TextEncoder()

/** The inbox, over the inbox part of the state. */
export function memoryInbox(access: Access, onPut: NonNullable<Inbox['onPut']>): Inbox {
  return {
    onPut,

    put: (messages) =>
      access.write((state) => {
        const { inbox } = state
        return messages.map((message): PutAnswer => {
          if (!Number.isFinite(message.received_at)) return { kind: 'rejected', cause: noTime() }
          const { lease, ...kept } = message
          const existing = inbox.messages.get(kept.id)
          if (existing !== undefined || inbox.dead.has(kept.id)) {
            return { kind: 'stored', ...(lease !== undefined && existing?.token === lease.token && { held: true }) }
          }
          if (lease !== undefined) {
            inbox.messages.set(kept.id, { message: kept, token: lease.token, heldUntil: lease.until, tries: 1 })
            add(inbox.held, [lease.until, kept.id])
            return { kind: 'stored', held: true }
          }
          inbox.messages.set(kept.id, { message: kept, token: null, heldUntil: 0, tries: 0 })
          wait(inbox, kept)
          state.news.messages = true
          return { kind: 'stored' }
        })
      }),

    take: ({ limit, maxBytes, leaseMs, now, leaveOut = new Set() }) =>
      access.write((state) => {
        const { held, messages } = state.inbox
        for (let next = first(held); next !== undefined && next[0] <= now; next = first(held)) {
          remove(held, next)
          wait(state.inbox, messages.get(next[1])!.message)
        }
        const taken: Taken[] = []
        let bytes = 0
        for (const id of inTurns(state.inbox, limit, leaveOut)) {
          const kept = messages.get(id)!
          bytes += encoder.encode(kept.message.data).byteLength
          if (taken.length > 0 && bytes > maxBytes) break
          kept.token = String(++state.token)
          kept.heldUntil = now + leaseMs
          kept.tries++
          taken.push({ ...kept.message, token: kept.token, tries: kept.tries })
        }
        for (const { id } of taken) {
          const kept = messages.get(id)!
          leave(state.inbox, kept.message)
          add(held, [kept.heldUntil, id])
        }
        state.inbox.last = taken.at(-1)?.workspaceId ?? state.inbox.last
        return taken
      }),

    done: (taken) =>
      access.write((state) => {
        for (const hold of taken) takeOut(state, hold)
      }),

    release: (taken) =>
      access.write((state) => {
        const { messages, held } = state.inbox
        for (const { id, token } of taken) {
          const kept = messages.get(id)
          if (kept === undefined || kept.token !== token) continue
          remove(held, [kept.heldUntil, id])
          wait(state.inbox, kept.message)
          messages.set(id, { message: kept.message, token: null, heldUntil: 0, tries: kept.tries - 1 })
          state.news.messages = true
        }
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

/** Removes a message if `hold` is the message's last hold. */
function takeOut({ inbox }: State, hold: Taken): KeptMessage | null {
  const kept = inbox.messages.get(hold.id)
  if (kept === undefined || kept.token !== hold.token) return null
  inbox.messages.delete(hold.id)
  remove(inbox.held, [kept.heldUntil, hold.id])
  leave(inbox, kept.message)
  return kept
}

function wait({ lines, workspaces }: InboxState, { workspaceId, received_at, id }: Message): void {
  const line = lines.get(workspaceId) ?? sorted()
  lines.set(workspaceId, line)
  add(line, [received_at, id])
  add(workspaces, [0, workspaceId])
}

function leave({ lines, workspaces }: InboxState, { workspaceId, received_at, id }: Message): void {
  const line = lines.get(workspaceId)
  if (line === undefined) return
  remove(line, [received_at, id])
  if (line.size > 0) return
  lines.delete(workspaceId)
  remove(workspaces, [0, workspaceId])
}

/** The ids of up to `limit` waiting messages in turns by workspace. No line may change meanwhile. */
function* inTurns(
  { lines, workspaces, last }: InboxState,
  limit: number,
  leaveOut: ReadonlySet<string>,
): Generator<string, void> {
  const names: string[] = []
  for (const from of [last, null]) {
    for (const [, name] of ascending(workspaces, from === null ? null : [0, from])) {
      if (names.length === limit || (from === null && name > last)) break
      if (!leaveOut.has(name)) names.push(name)
    }
  }
  let open = names.map((name) => ascending(lines.get(name)!))
  for (let left = limit; open.length > 0;) {
    const rest: typeof open = []
    for (const line of open) {
      const next = line.next()
      if (next.done === true) continue
      if (left-- === 0) return
      yield next.value[1]
      rest.push(line)
    }
    open = rest
  }
}
