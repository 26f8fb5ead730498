import type { Context } from '../context.ts'
import { isHeld } from '../core/endpoint-row.ts'
import type { Hold } from './holds.ts'
import { inTwo, type ReadyJob } from './ready-job.ts'

/** How long the queue leaves a paused endpoint alone: a claim meets the endpoint once in this time. */
const heldForMs = 600_000

/**
 * Parts jobs of paused endpoints from others. The queue pauses their groups before the jobs are given back, so that claims meet
 * them no more. That pause ends when the endpoint is resumed, or where that was lost by itself; a claim then begins it anew.
 */
export async function setAside(
  { clock, queue }: Context,
  jobs: readonly ReadyJob[],
): Promise<{ readonly passed: readonly ReadyJob[]; readonly held: readonly Hold[] }> {
  const { first, second } = inTwo(jobs, ({ loaded: { endpoint } }) => endpoint !== null && isHeld(endpoint))
  if (second.length === 0) return { passed: first, held: [] }
  const until = clock.now() + heldForMs
  const groups = new Set(second.map(({ hold }) => hold.claim.group))
  await queue.pause(Array.from(groups, (group) => ({ group, until })))
  return { passed: first, held: second.map(({ hold }) => hold) }
}
