export const firstRestMs = 5
const maxRestMs = 50

/**
 * How long an announcer rests after an announcement, milliseconds: 5 where nothing came during the rest before, so that
 * single events are announced at once, and twice as long as that rest where something came, up to 50, so that the pieces of a
 * burst go together.
 */
export function restAfter(before: number, hadMore: boolean): number {
  return hadMore ? Math.min(before * 2, maxRestMs) : firstRestMs
}
