export type Kind = 'slow' | 'new'

/** An endpoint that gets a single request at a time. */
export interface Watched {
  readonly group: string
  readonly workspace: string
  readonly kind: Kind
  /** When the last try began, in milliseconds of the monotonic clock. */
  readonly triedAt: number
  /** Slots in use: more than 1 when an endpoint became slow while several requests were in flight. */
  readonly slots: number
  /** Whether a job is known to wait: a claim brought a job and no slot was free, or a try has just ended. */
  readonly isWaiting: boolean
}

/** The watched endpoints of a kind. An endpoint is in `tried`, in `waiting`, or in `others`. */
export class WatchedKind {
  /** Endpoints with a request in flight, in the order in which the requests began. */
  readonly tried = new Set<Watched>()
  /** Endpoints with a waiting job, by workspace. Workspaces stand in the order of their turns. */
  readonly waiting = new Map<string, Set<Watched>>()
  /** Endpoints without a request in flight. Nobody knows whether they have a waiting job. */
  readonly others = new Set<Watched>()
  readonly #slots = new Map<string, number>()
  readonly #max: number
  #used = 0
  #count = 0

  /** @param max the slots that these endpoints may use together. */
  constructor(max: number) {
    this.#max = max
  }

  get count(): number {
    return this.#count
  }

  /** Slots that are free. */
  get free(): number {
    return this.#max - this.#used
  }

  /** Slots that the endpoints of a workspace use. */
  slotsOf(workspace: string): number {
    return this.#slots.get(workspace) ?? 0
  }

  add(watched: Watched): void {
    const { workspace, slots, isWaiting } = watched
    this.#count++
    if (slots > 0) {
      this.tried.add(watched)
      this.#changeSlots(workspace, slots)
    } else if (isWaiting) {
      const waiting = this.waiting.get(workspace)
      if (waiting === undefined) this.waiting.set(workspace, new Set([watched]))
      else waiting.add(watched)
    } else this.others.add(watched)
  }

  remove(watched: Watched): void {
    const { workspace, slots, isWaiting } = watched
    this.#count--
    if (slots > 0) {
      this.tried.delete(watched)
      this.#changeSlots(workspace, -slots)
    } else if (isWaiting) {
      const waiting = this.waiting.get(workspace)
      waiting?.delete(watched)
      if (waiting?.size === 0) this.waiting.delete(workspace)
    } else this.others.delete(watched)
  }

  #changeSlots(workspace: string, by: number): void {
    this.#used += by
    const slots = this.slotsOf(workspace) + by
    if (slots > 0) this.#slots.set(workspace, slots)
    else this.#slots.delete(workspace)
  }
}
