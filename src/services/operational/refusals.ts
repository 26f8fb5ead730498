import { EvenlyKept } from '../../core/evenly-kept.ts'
import { minuteMs } from '../../core/periods.ts'

const windowMs = 5 * minuteMs
/** Fewer requests in a window say nothing. */
const minRequests = 10
const maxSources = 10_000

export interface Window {
  readonly workspaceId: string
  readonly sourceId: string
  readonly from: number
  readonly to: number
  readonly requests: number
  readonly refused: number
}

type Open = { -readonly [Name in keyof Window]: Window[Name] } & { wasRefusing: boolean }

/** Watches how many requests of each source are refused, in windows of five minutes, in this process. */
export class Refusals {
  readonly #open = new EvenlyKept<Open>(maxSources)
  readonly #tell: (window: Window) => void

  /**
   * `tell` is called for a window in which more than half of the requests were refused; of several such windows in a
   * row only for the first.
   */
  constructor(tell: (window: Window) => void) {
    this.#tell = tell
  }

  took(workspaceId: string, sourceId: string, isRefused: boolean, now: number): void {
    const known = this.#open.get(workspaceId, sourceId)
    const next = known !== undefined && now >= known.to ? this.#close(known) : known
    const open = next ?? fresh(workspaceId, sourceId, now)
    if (open !== known) this.#open.set(workspaceId, sourceId, open)
    open.requests++
    if (isRefused) open.refused++
    if (open.requests === 1) open.from = now
    open.to = open.from + windowMs
  }

  /** Looks at the windows that are over. */
  look(now: number): void {
    const over = [...this.#open.values()].filter(({ to }) => now >= to)
    for (const open of over) {
      if (open.requests === 0) this.#open.delete(open.workspaceId, open.sourceId)
      else this.#open.set(open.workspaceId, open.sourceId, this.#close(open))
    }
  }

  /** Judges a window and answers the next window. */
  #close(window: Open): Open {
    const { from, to, requests, refused } = window
    const isRefusing = requests >= minRequests && refused * 2 > requests
    if (isRefusing && !window.wasRefusing) this.#tell({ ...window })
    return { ...window, from: to, to: to + (to - from), requests: 0, refused: 0, wasRefusing: isRefusing }
  }
}

function fresh(workspaceId: string, sourceId: string, now: number): Open {
  return { workspaceId, sourceId, from: now, to: now + windowMs, requests: 0, refused: 0, wasRefusing: false }
}
