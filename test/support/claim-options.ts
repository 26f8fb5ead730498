import type { ClaimOptions } from '../../src/contracts/queue.ts'

/** A claim of a process that has nothing in work and leaves nothing out. */
export function claimOptions(options: Partial<ClaimOptions> & Pick<ClaimOptions, 'now'>): ClaimOptions {
  return {
    limit: 100,
    free: 400,
    cap: 100,
    busy: { workspaces: new Map(), groups: new Map(), low: new Map() },
    leaveOut: new Set(),
    leaseMs: 1000,
    ...options,
  }
}
