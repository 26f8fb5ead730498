import { PosthornError } from '../errors.ts'

const maxTries = 100
const maxSeconds = 31_536_000

export interface BackoffOptions {
  /** Seconds before the second try: 1 to 31,536,000. */
  readonly base: number
  /** Each further wait is so many times the wait before: at least 1. Default 2. */
  readonly factor?: number
  /** The longest wait, seconds: 1 to 31,536,000. Default 86,400. */
  readonly max?: number
  /** The number of tries, the first included: 1 to 100. */
  readonly tries: number
}

/**
 * A list for `retry.config.attempts` whose waits grow: the first try is made at once, the second after `base` seconds, and each
 * further wait is `factor` times the wait before, in whole seconds, at most `max`.
 *
 * @throws PosthornError validation
 * @example backoff({ base: 5, factor: 6, max: 86_400, tries: 7 }) // [0, 5, 30, 180, 1080, 6480, 38880]
 */
export function backoff({ base, factor = 2, max = 86_400, tries }: BackoffOptions): number[] {
  const wrong = [
    ['base', base >= 1 && base <= maxSeconds, `must be a number from 1 to ${maxSeconds}`],
    ['factor', factor >= 1 && Number.isFinite(factor), 'must be a number of at least 1'],
    ['max', max >= 1 && max <= maxSeconds, `must be a number from 1 to ${maxSeconds}`],
    [
      'tries',
      Number.isInteger(tries) && tries >= 1 && tries <= maxTries,
      `must be a whole number from 1 to ${maxTries}`,
    ],
  ].find(([, holds]) => holds !== true)
  if (wrong !== undefined) throw new PosthornError('validation', `backoff: ${wrong[0]} ${wrong[2]}`)
  const waits = [0]
  for (let wait = base; waits.length < tries; wait = Math.min(wait * factor, max)) {
    waits.push(Math.round(Math.min(wait, max)))
  }
  return waits
}
