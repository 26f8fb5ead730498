/**
 * How tenants share a resource: dynamic thresholds (Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", 1998). A tenant may hold a multiple of what is free at this moment. Alone a tenant
 * gets three quarters, two greedy tenants get three sevenths each, and a tenant that comes new finds room at once. The
 * rule needs no configuration and keeps no history.
 */

/** A tenant may hold at most this many times the units that are free. */
export const shareFactor = 3

/** The most units that one tenant may hold while `free` units are left: never less than 1 while something is free. */
export function maxFor(free: number): number {
  return free <= 0 ? 0 : Math.max(1, shareFactor * free)
}

/** Where few units are free, this many times as many must be free as a tenant would hold with a unit that it takes at once. */
const freeFactor = 4

/**
 * Whether a tenant that holds `held` of `all` units may take another at once, before others that may be in line: most
 * units are free, or many more than it would hold, so that a unit is left for each of the others.
 */
export function mayTakeAtOnce(held: number, free: number, all: number): boolean {
  if (2 * free > all) return mayTake(held, free)
  return freeFactor * (held + 1) <= free
}

/** Whether a tenant that holds `held` units may take another unit. */
export function mayTake(held: number, free: number): boolean {
  return held < maxFor(free)
}
