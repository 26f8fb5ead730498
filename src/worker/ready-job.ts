import type { Loaded } from '../services/loaded-attempt.ts'
import type { Hold } from './holds.ts'

/** A held job, with all that is needed to send the request. */
export interface ReadyJob {
  readonly hold: Hold
  readonly loaded: Loaded
}

/**
 * Claimed jobs in parts: those of endpoints whose jobs came loaded, and the others, which need not be waited for. Jobs of an
 * endpoint stay together, in their order.
 */
export function loadedApart(holds: readonly Hold[]): readonly (readonly Hold[])[] {
  const unloaded = new Set(holds.flatMap(({ claim }) => (claim.delivery === undefined ? claim.group : [])))
  const isLoaded = ({ claim }: Hold): boolean => !unloaded.has(claim.group)
  const parts = [holds.filter(isLoaded), holds.filter((hold) => !isLoaded(hold))]
  return parts.filter((part) => part.length > 0)
}

/** Finds what was loaded for each hold. Nothing is loaded for `obsolete` jobs: their attempts have ended. */
export function matchJobs(
  holds: readonly Hold[],
  loaded: readonly Loaded[],
): { readonly ready: readonly ReadyJob[]; readonly obsolete: readonly Hold[] } {
  const byAttempt = new Map(loaded.map((each) => [each.delivery.attempt.id, each]))
  const ready: ReadyJob[] = []
  const obsolete: Hold[] = []
  for (const hold of holds) {
    const found = byAttempt.get(hold.claim.id)
    if (found === undefined) obsolete.push(hold)
    else ready.push({ hold, loaded: found })
  }
  return { ready, obsolete }
}

/** Jobs in two parts, each in their order. */
export function inTwo(
  jobs: readonly ReadyJob[],
  isSecond: (job: ReadyJob) => boolean,
): { readonly first: readonly ReadyJob[]; readonly second: readonly ReadyJob[] } {
  const second = jobs.filter(isSecond)
  return { first: second.length === 0 ? jobs : jobs.filter((job) => !isSecond(job)), second }
}
