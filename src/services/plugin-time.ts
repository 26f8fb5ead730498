import type { EngineClock } from '../contracts/clock.ts'
import { startTimer } from '../runtime/timer.ts'

/** The time that the plugins of one delivery have together. It stands still while one of them waits for a share. */
export class PluginTime {
  readonly #clock: EngineClock
  #leftMs: number
  #waits = 0
  /** Set while the time counts. */
  #counting: { readonly since: number; readonly stop: () => void } | null = null
  #ring: (() => void) | null = null

  constructor(clock: EngineClock, ms: number) {
    this.#clock = clock
    this.#leftMs = ms
  }

  /** A wait begins. It ends when the answer is called; twice is fine. */
  readonly pause = (): (() => void) => {
    this.#waits++
    this.#stop()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#waits--
      this.#count()
    }
  }

  /** The outcome of work, or what `late` makes when the time is up. The work itself goes on. */
  within<Answer>(work: Promise<Answer>, late: () => Error): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#ring = () => reject(late())
      this.#count()
      const end = (): void => {
        this.#ring = null
        this.#stop()
      }
      work.then(
        (answer) => {
          end()
          resolve(answer)
        },
        (cause: unknown) => {
          end()
          reject(cause)
        },
      )
    })
  }

  #count(): void {
    if (this.#ring === null || this.#waits > 0 || this.#counting !== null) return
    this.#counting = { since: this.#clock.elapsed(), stop: startTimer(this.#clock, this.#leftMs, this.#ring) }
  }

  #stop(): void {
    if (this.#counting === null) return
    this.#counting.stop()
    this.#leftMs = Math.max(this.#leftMs - (this.#clock.elapsed() - this.#counting.since), 0)
    this.#counting = null
  }
}
