import type { Cancelable } from '../contracts/cancelable.ts'

/**
 * An `AbortController` that is made when the signal is asked for. Each delivery has a cancellation and hardly any is
 * ever canceled: making a controller for each delivery, and listening to it, took a tenth of a delivery's time.
 */
export class Cancellation implements Cancelable {
  canceled = false
  /** Hardly any has a second follower, and a list takes far more memory than one. */
  #follower: (() => void) | null = null
  #others: (() => void)[] | null = null
  #controller: AbortController | null = null

  /** The same for whom an `AbortSignal` suits better. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.canceled) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /**
   * One that is canceled with this one, whose signal has listeners of its own: a signal with more than ten is taken for a
   * leak by Node 20.
   */
  child(): Cancellation {
    const child = new Cancellation()
    if (this.canceled) child.cancel()
    else this.follow(() => child.cancel())
    return child
  }

  cancel(): void {
    if (this.canceled) return
    this.canceled = true
    this.#controller?.abort()
    const first = this.#follower
    const others = this.#others
    this.#follower = this.#others = null
    first?.()
    for (const onCancel of others ?? []) onCancel()
  }

  follow(onCancel: () => void): void {
    if (this.#follower === null && this.#others === null) this.#follower = onCancel
    else (this.#others ??= []).push(onCancel)
  }

  unfollow(onCancel: () => void): void {
    if (this.#follower === onCancel) {
      this.#follower = null
      return
    }
    const at = this.#others?.indexOf(onCancel) ?? -1
    if (at !== -1) this.#others?.splice(at, 1)
  }
}
