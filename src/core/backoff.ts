import { PosthornError } from '../errors.ts'

const mostTries = 100
const mostSeconds = 31_536_000

/**
 * A list for `retry.config.attempts` whose waits grow: the first try is made at once, the second after `base` seconds, and each
 * further wait is `factor` times the wait before, in whole seconds, at most `max`.
 *
 * @param options.base seconds before the second try, at least 1
 * @param options.factor at least 1; default 2
 * @param options.max seconds; default 86,400, at most 31,536,000
 * @param options.tries how many tries there are, the first one included: 1 to 100
 * @throws PosthornError validation
 * @example backoff({ base: 5, factor: 6, max: 86_400, tries: 7 }) // [0, 5, 30, 180, 1080, 6480, 38880]
 */
export function backoff({
  base,
  factor = 2,
  max = 86_400,
  tries,
}: {
  readonly base: number
  readonly factor?: number
  readonly max?: number
  readonly tries: number
}): number[] {
  const wrong = [
    ['base', base >= 1 && base <= mostSeconds, `must be a number from 1 to ${mostSeconds}`],
    ['factor', factor >= 1 && Number.isFinite(factor), 'must be a number of at least 1'],
    ['max', max >= 1 && max <= mostSeconds, `must be a number from 1 to ${mostSeconds}`],
    [
      'tries',
      Number.isInteger(tries) && tries >= 1 && tries <= mostTries,
      `must be a whole number from 1 to ${mostTries}`,
    ],
  ].find(([, holds]) => holds !== true)
  if (wrong !== undefined) throw new PosthornError('validation', `backoff: ${wrong[0]} ${wrong[2]}`)
  const waits = [0]
  for (let wait = base; waits.length < tries; wait = Math.min(wait * factor, max)) {
    waits.push(Math.round(Math.min(wait, max)))
  }
  return waits
}
