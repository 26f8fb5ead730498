import type { Cancelable } from '../contracts/cancelable.ts'

/**
 * An `AbortController` that is made when the signal is asked for. Each delivery has a cancellation and hardly any is
 * ever canceled: making a controller for each delivery, and listening to it, took a tenth of a delivery's time.
 */
export class Cancellation implements Cancelable {
  canceled = false
  /** Most have a single follower at a time: a list would cost more than all the rest. */
  #follower: (() => void) | null = null
  #others: readonly (() => void)[] = []
  #controller: AbortController | null = null

  /** The same for whom an `AbortSignal` suits better. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.canceled) this.#controller.abort()
    }
    return this.#controller.signal
  }

  cancel(): void {
    if (this.canceled) return
    this.canceled = true
    this.#controller?.abort()
    const [first, others] = [this.#follower, this.#others]
    this.#follower = null
    this.#others = []
    first?.()
    for (const onCancel of others) onCancel()
  }

  follow(onCancel: () => void): void {
    if (this.#follower === null) this.#follower = onCancel
    else this.#others = [...this.#others, onCancel]
  }

  unfollow(onCancel: () => void): void {
    if (this.#follower === onCancel) this.#follower = null
    else if (this.#others.length > 0) this.#others = this.#others.filter((other) => other !== onCancel)
  }
}
