import type { Cancelable } from '../../src/contracts/cancelable.ts'

/**
 * Those who follow a signal that many requests may share. The signal has one listener for all of them, and no listener
 * when nobody follows.
 */
interface Followers {
  readonly callbacks: Set<() => void>
  readonly tell: () => void
}

const followed = new WeakMap<AbortSignal, Followers>()

/** A signal as that which ends a request. A listener for each of hundreds of requests would be slow, and Node warns of it. */
export function cancelableBy(signal: AbortSignal): Cancelable {
  return {
    get canceled() {
      return signal.aborted
    },
    follow: (onCancel) => follow(signal, onCancel),
    unfollow: (onCancel) => unfollow(signal, onCancel),
  }
}

function follow(signal: AbortSignal, onAbort: () => void): void {
  let followers = followed.get(signal)
  if (followers === undefined) {
    const callbacks = new Set<() => void>()
    const tell = (): void => {
      for (const callback of callbacks) callback()
    }
    followers = { callbacks, tell }
    followed.set(signal, followers)
    signal.addEventListener('abort', tell)
  }
  followers.callbacks.add(onAbort)
}

function unfollow(signal: AbortSignal, onAbort: () => void): void {
  const followers = followed.get(signal)
  if (followers === undefined) return
  followers.callbacks.delete(onAbort)
  if (followers.callbacks.size > 0) return
  followed.delete(signal)
  signal.removeEventListener('abort', followers.tell)
}
