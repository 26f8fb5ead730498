import type { Logger } from '../contracts/observer.ts'
import type { Followed, Telemetry } from '../contracts/telemetry.ts'

/**
 * The host's telemetry, safe to call. What it throws is logged, and changes nothing of what happens: what cannot be followed
 * is done without.
 */
export function safeTelemetry(telemetry: Telemetry, log: Logger): Telemetry {
  const contained = <Answer>(call: () => Answer, otherwise: Answer): Answer => {
    try {
      return call()
    } catch (cause) {
      log.error('the telemetry failed', { cause })
      return otherwise
    }
  }
  const safe = <End>(follow: () => Followed<End>): Followed<End> => {
    const following = contained<Followed<End> | undefined>(follow, undefined)
    if (following === undefined) return { trace: null, within: (work) => work(), end() {} }
    return {
      trace: following.trace,
      within: (work) => within(following, work, contained),
      end: (end) => contained(() => following.end(end), undefined),
    }
  }
  return {
    current: () => contained(() => telemetry.current(), null),
    publish: (about) => safe(() => telemetry.publish(about)),
    attempt: (about) => safe(() => telemetry.attempt(about)),
  }
}

/** Does the work once, within what follows it or, where that fails, without. The work is asynchronous: it does not throw. */
function within<Answer>(
  following: Followed<unknown>,
  work: () => Answer,
  contained: (call: () => void, otherwise: void) => void,
): Answer {
  let done: { readonly answer: Answer } | null = null
  const once = (): Answer => (done ??= { answer: work() }).answer
  contained(() => void following.within(once), undefined)
  return once()
}
