import { removeAttempt, removeEvent } from './rows.ts'
import { first } from './sorted.ts'
import type { State } from './state.ts'

/** Removes the oldest finished attempts beyond `keep` of them, and the oldest events without open attempts beyond `keep`. */
export function evict(state: State, keep: number): void {
  while (state.finished.size > keep) removeAttempt(state, first(state.finished)![1])
  while (state.idle.size > keep) removeEvent(state, first(state.idle)![1], Infinity)
}
