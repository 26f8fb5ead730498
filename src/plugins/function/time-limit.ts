/** How long a function may run in a separate process, milliseconds. After that the process is killed. */
export const processTimeMs = 1000
/** How long a function may run in the thread of the request, where the platform has no processes, milliseconds. */
export const ownThreadTimeMs = 50

/** What is taken for a millisecond where the clock stands still while code runs, as on some edge platforms. */
const pollsPerMs = 10
/** What it may do however late it is: on a busy machine the time of a short run is mostly that of others. */
const freePolls = 4

export interface Deadline {
  begin(timeMs: number): void
  passed(): boolean
  late(): boolean
}

/** The time of one run after the other, for an engine that asks now and then whether to go on. */
export function makeDeadline(): Deadline {
  let started = 0
  let maxMs = Infinity
  let polls = 0
  let late = false
  return {
    begin(timeMs) {
      started = performance.now()
      maxMs = timeMs
      polls = 0
      late = false
    },
    late: () => late,
    passed() {
      if (maxMs === Infinity) return false
      polls++
      const tookMs = performance.now() - started
      late ||= polls > freePolls && (tookMs === 0 ? polls / pollsPerMs : tookMs) > maxMs
      return late
    },
  }
}
