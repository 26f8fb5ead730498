import { mayTake } from '../core/fair-share.ts'
import { type Kind, type Watched, WatchedKind } from './watched.ts'

/** The watched endpoints of both kinds, and who of them is tried next. */
export class Watchlist {
  readonly #byGroup = new Map<string, Watched>()
  readonly #kinds: Readonly<Record<Kind, WatchedKind>>

  /** @param max the slots that the endpoints of each kind may use together. */
  constructor(max: Readonly<Record<Kind, number>>) {
    this.#kinds = { slow: new WatchedKind(max.slow), new: new WatchedKind(max.new) }
  }

  get(group: string): Watched | undefined {
    return this.#byGroup.get(group)
  }

  groups(): Iterable<string> {
    return this.#byGroup.keys()
  }

  count(kind: Kind): number {
    return this.#kinds[kind].count
  }

  /** Slots of a kind that are free. */
  free(kind: Kind): number {
    return this.#kinds[kind].free
  }

  /** Slots of a kind that a workspace uses. */
  slotsOf(kind: Kind, workspace: string): number {
    return this.#kinds[kind].slotsOf(workspace)
  }

  /** Endpoints with a request in flight, in the order in which the requests began. */
  tried(kind: Kind): Iterable<Watched> {
    return this.#kinds[kind].tried
  }

  /** Adds an endpoint, or replaces what is known about the endpoint. */
  put(watched: Watched): void {
    this.remove(watched.group)
    this.#byGroup.set(watched.group, watched)
    this.#kinds[watched.kind].add(watched)
  }

  remove(group: string): void {
    const watched = this.#byGroup.get(group)
    if (watched === undefined) return
    this.#byGroup.delete(group)
    this.#kinds[watched.kind].remove(watched)
  }

  /** A claim was asked for a job of the endpoint and brought none. */
  foundNothing(group: string): void {
    const watched = this.#byGroup.get(group)
    if (watched?.isWaiting === true) this.put({ ...watched, isWaiting: false })
  }

  /** Whether an endpoint with a waiting job may be tried now. */
  mayTry(kind: Kind): boolean {
    const { waiting, free } = this.#kinds[kind]
    for (const workspace of waiting.keys()) if (mayTake(this.slotsOf(kind, workspace), free)) return true
    return false
  }

  /**
   * Chooses endpoints to be tried: up to `max` with a waiting job, in turns by workspace; and up to `max` endpoints
   * for which nobody knows whether a job waits, or all of these when more slots are free than endpoints have a waiting
   * job.
   */
  choose(kind: Kind, max: number): readonly string[] {
    const { waiting, others, count, tried, free } = this.#kinds[kind]
    const left = Math.min(max, free)
    if (left < 1) return []
    const chosen: string[] = []
    for (const { group, workspace } of this.#waitingInTurns(kind)) {
      if (chosen.length >= left) break
      chosen.push(group)
      const endpoints = waiting.get(workspace)! // `waiting` holds the endpoint
      waiting.delete(workspace)
      waiting.set(workspace, endpoints) // now the workspace comes last
    }
    const waitingCount = count - tried.size - others.size
    const mayTry = ({ workspace }: Watched): boolean => mayTake(this.slotsOf(kind, workspace), free)
    for (const watched of firstOf(others, free > waitingCount ? others.size : left, mayTry)) {
      chosen.push(watched.group)
      others.delete(watched)
      others.add(watched) // now the endpoint comes last
    }
    return chosen
  }

  /** The next waiting endpoint of each workspace in turn, round by round, as long as the shares allow. */
  *#waitingInTurns(kind: Kind): Generator<Watched, void> {
    const { waiting, free } = this.#kinds[kind]
    const turns = Array.from(waiting, ([workspace, endpoints]) => ({ workspace, rest: endpoints.values(), chosen: 0 }))
    let chosen = 0
    for (let before = -1; before < chosen;) {
      before = chosen
      for (const turn of turns) {
        if (!mayTake(this.slotsOf(kind, turn.workspace) + turn.chosen, free - chosen)) continue
        const { value, done } = turn.rest.next()
        if (done === true) continue
        turn.chosen++
        chosen++
        yield value
      }
    }
  }
}

function firstOf<T>(all: ReadonlySet<T>, count: number, suits: (each: T) => boolean): T[] {
  const found: T[] = []
  for (const each of all) {
    if (found.length >= count) break
    if (suits(each)) found.push(each)
  }
  return found
}
