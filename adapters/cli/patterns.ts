import { matches } from '../../src/core/match.ts'
import { UsageError } from './failure.ts'

/** Whether one of the patterns wants an event type, by the rule for the `events` of an endpoint. */
export function wants(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => matches(pattern, type))
}

/** Patterns of an option, separated by commas. */
export function patternsOf(given: string | undefined): readonly string[] {
  if (given === undefined) return ['*']
  const patterns = given.split(',').map((each) => each.trim())
  if (patterns.includes('')) throw new UsageError('event types and patterns are separated by commas, and none is empty')
  return patterns
}
