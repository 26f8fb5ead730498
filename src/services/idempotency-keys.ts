import type { Context } from '../context.ts'
import type { KeyedRequest } from '../contracts/storage/keyed-requests.ts'
import { keysKeptMs, minuteMs } from '../core/periods.ts'

/** A request without an answer after this time counts as lost together with the process that did it. */
const leaseMs = 5 * minuteMs

/**
 * What the key means for this caller. `own`: this caller does the request; `note` is what this call or an earlier call
 * stored with the key.
 */
export interface Standing {
  readonly kind: 'own' | 'answered' | 'in flight' | 'another request'
  readonly note: string
  /** Whether the note is that of a call before. */
  readonly isKnown: boolean
}

/** A key that a call asks for. */
export interface Keyed {
  /** Id of the workspace; empty for requests that are about none. */
  readonly workspace: string
  readonly key: string
  /** Tells the request from others. */
  readonly hash: string
  /** The note that is stored when the key is new, made of fresh ids and the time, unix milliseconds. */
  note(newId: () => string, now: number): string
}

/** A call that came with a key. */
export interface KeyedCall {
  readonly standing: Standing
  /** Keeps the answer. */
  answered(note: string): Promise<void>
  /** Lets the next call with the key go on: what became of this call is not known. */
  giveUp(): Promise<void>
  /** Lets the key be used as if it were new: the call did nothing. */
  release(): Promise<void>
}

/** Takes keys for requests. */
export type TakeKey = (keyed: Keyed) => Promise<KeyedCall>

export function keyedRequestService({ storage, clock, newId }: Context): TakeKey {
  const { keyedRequests } = storage
  return async ({ workspace, key, hash, note: noteOf }) => {
    await clock.ready()
    const now = clock.now()
    const note = noteOf(newId, now)
    const holder = { workspace_id: workspace, key, token: newId() }
    const asked = { ...holder, hash, note, begun_at: now, lease_until: now + leaseMs }
    const found = await keyedRequests.take(asked, now - keysKeptMs)
    return {
      standing: { kind: kindOf(found, asked), note: found.note, isKnown: found.note !== note },
      answered: (answer) => keyedRequests.update({ ...holder, lease_until: null, note: answer }),
      giveUp: () => keyedRequests.update({ ...holder, lease_until: 0, note: found.note }),
      release: () => keyedRequests.release(holder),
    }
  }
}

function kindOf(found: KeyedRequest, asked: KeyedRequest): Standing['kind'] {
  if (found.token === asked.token) return 'own'
  if (found.hash !== asked.hash) return 'another request'
  return found.lease_until === null ? 'answered' : 'in flight'
}
