import type { NewAttempt } from '../contracts/storage/attempts.ts'
import type { TimeRange } from '../contracts/storage/list.ts'
import { timeOfId, timePrefix } from './id.ts'

/** How far the time in an attempt's id may be from the attempt's `created_at`. */
export const slackMs = 60_000

/** Ids between which all attempts of a time range stand: `from` is not above, `to` is above each of them. */
export interface IdBounds {
  readonly from: string | null
  readonly to: string | null
}

/**
 * Whether the id of an attempt says nothing of the attempt's time: an id that the host chose, or an id made while the
 * clock was set. Storages remember such attempts, so that they never use `idBounds` where the bounds would leave such
 * an attempt out.
 */
export function isAstray({ id, created_at, scheduled_at }: NewAttempt): boolean {
  const time = timeOfId(id)
  return time === null || Math.abs(time - created_at) > slackMs || scheduled_at < created_at - slackMs
}

/**
 * The bounds that times of attempts set to their ids. An attempt is made before it falls due, so an upper bound of
 * `scheduled_at` is an upper bound of the id too. Lists are ordered by id: with these bounds a page begins at the rows
 * it shows, instead of walking from the newest row to them.
 */
export function idBounds(query: { readonly created_at?: TimeRange; readonly scheduled_at?: TimeRange }): IdBounds {
  const { created_at, scheduled_at } = query
  const lowest = [created_at?.eq, created_at?.gt, created_at?.gte].filter((bound) => bound !== undefined)
  const highest = [
    created_at?.eq,
    created_at?.lt,
    created_at?.lte,
    scheduled_at?.eq,
    scheduled_at?.lt,
    scheduled_at?.lte,
  ]
  const tops = highest.filter((bound) => bound !== undefined)
  return {
    from: lowest.length === 0 ? null : timePrefix(Math.max(...lowest) - slackMs),
    to: tops.length === 0 ? null : timePrefix(Math.min(...tops) + 2 * slackMs + 1),
  }
}

/** An id below all ids of attempts that fell due in a range within `slackMs` after they were made; null for a range that has no begin. */
export function idOfDue({ eq, gt, gte }: TimeRange): string | null {
  const lowest = [eq, gt, gte].filter((bound) => bound !== undefined)
  return lowest.length === 0 ? null : timePrefix(Math.max(...lowest) - 2 * slackMs)
}

/** How long after an event's `created_at` the event's id is made, at most. */
export const eventSlackMs = 50

/** The same for an event: its `created_at` is never after the time in its id, and at most `eventSlackMs` before. */
export function isEventAstray({ id, created_at }: { readonly id: string; readonly created_at: number }): boolean {
  const time = timeOfId(id)
  return time === null || created_at > time || created_at < time - eventSlackMs
}
