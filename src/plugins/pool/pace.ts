const maxAtOnce = 16
/** What runs that go together may take of a process, so that others wait no longer for it. */
const togetherMs = 2

/** How long the runs of a script take a processor, as the last of them tell, and thereby how many may go together. */
export function makePace() {
  const paces = new WeakMap<object, number>()

  return {
    /** A slow run counts at once, a quick run bit by bit. */
    note(script: object, tookMs: number): void {
      const known = paces.get(script) ?? tookMs
      paces.set(script, Math.max(tookMs, known + (tookMs - known) / 4))
    },
    /** How many runs of the script may go together: 1 while nothing is known of the script. */
    runsAtOnce(script: object): number {
      const paceMs = paces.get(script)
      return paceMs === undefined ? 1 : Math.max(1, Math.min(maxAtOnce, Math.floor(togetherMs / paceMs)))
    },
  }
}
