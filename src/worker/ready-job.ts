import type { Loaded } from '../services/loaded-attempt.ts'
import type { Hold } from './holds.ts'

/** A held job, with all that is needed to send the request. */
export interface ReadyJob {
  readonly hold: Hold
  readonly loaded: Loaded
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
