import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { interestsOf, matcher, matches } from '../../src/core/match.ts'

describe('an entry of endpoint.events', () => {
  test.each([
    ['invoice.paid', 'invoice.paid', true],
    ['invoice.paid', 'invoice.sent', false],
    ['*', 'invoice', true],
    ['*', 'invoice.paid.late', true],
    ['invoice.*', 'invoice.paid', true],
    ['invoice.*', 'invoice', false],
    ['invoice.*', 'invoice.', false],
    ['invoice.*', 'invoice.paid.late', false],
    ['*.paid', 'invoice.paid', true],
    ['*.paid', '.paid', false],
    ['a.*.c', 'a.b.c', true],
    ['a.*.c', 'a.b.d', false],
    ['invoice.**', 'invoice.paid', true],
    ['invoice.**', 'invoice.paid.late', true],
    ['invoice.**', 'invoice', false],
    ['invoice.**', 'invoice.', false],
    ['**', 'invoice', true],
    ['**', 'invoice.paid', true],
    ['*.**', 'invoice', false],
    ['*.**', 'invoice.paid.late', true],
    ['inv*', 'invoice', false],
    ['inv*', 'inv*', true],
    ['**.paid', 'invoice.paid', false],
    ['**.paid', '**.paid', true],
    ['a.**.c', 'a.b.c', false],
    ['', 'invoice', false],
  ])('%s on %s: %s', (pattern, eventType, expected) => {
    expect(matches(pattern, eventType)).toBe(expected)
  })

  test('that equals the event type always matches it', () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => matches(text, text)))
  })
})

/** The rule, segment by segment. */
function matchesBySegment(pattern: string, eventType: string): boolean {
  if (pattern === eventType || pattern === '*') return true
  const wanted = pattern.split('.')
  const given = eventType.split('.')
  const isOpen = wanted.at(-1) === '**'
  if (isOpen) wanted.pop()
  if (isOpen ? given.length <= wanted.length : given.length !== wanted.length) return false
  if (isOpen && given.slice(wanted.length).join('.') === '') return false
  return wanted.every((segment, i) => segment === given[i] || (segment === '*' && given[i] !== ''))
}

test('the rule holds for random patterns and event types', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', '*', '**', 'a*', '*a', '')
  const dotted = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'))
  fc.assert(
    fc.property(dotted, dotted, (pattern, eventType) => {
      expect(matches(pattern, eventType)).toBe(matchesBySegment(pattern, eventType))
    }),
    { numRuns: 5000 },
  )
})

test('100,000 patterns, as long and as equal as they can be, hold an event up for no more than a moment', () => {
  const long = 'a.'.repeat(110)
  const subscribers = Array.from({ length: 500 }, (_, i) => ({
    events: Array.from({ length: 200 }, (_, n) => `${long}${i}.${n}.*`),
  }))
  const match = matcherOf(subscribers)
  const eventType = `${long}3.x.y`
  const took = (work: () => void) => {
    const from = performance.now()
    work()
    return performance.now() - from
  }
  const times = Array.from({ length: 5 }, () => took(() => expect(match(eventType)).toEqual([])))
  const bySegment = took(() => {
    for (const { events } of subscribers) for (const entry of events) matchesBySegment(entry, eventType)
  })
  expect(Math.min(...times)).toBeLessThan(bySegment / 5)
  expect(match('b.x')).toEqual([])
})

test('an endpoint with several matching entries is found once, in the order given', () => {
  const endpoints = [
    { id: 'all', events: ['*', 'invoice.*', 'invoice.paid'] },
    { id: 'none', events: [] },
    { id: 'exact', events: ['invoice.paid'] },
    { id: 'pattern', events: ['invoice.**'] },
    { id: 'other', events: ['order.*'] },
  ]
  const ids = (eventType: string) => matcherOf(endpoints)(eventType).map(({ id }) => id)
  expect(ids('invoice.paid')).toEqual(['all', 'exact', 'pattern'])
  expect(ids('order.made')).toEqual(['all', 'other'])
})

test('the matcher agrees with the single entry on random patterns', () => {
  const segment = fc.constantFrom('a', 'b', '*', '**', '')
  const dotted = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
  fc.assert(
    fc.property(fc.array(fc.array(dotted, { maxLength: 3 }), { maxLength: 5 }), dotted, (lists, eventType) => {
      const subscribers = lists.map((events) => ({ events }))
      const expected = subscribers.filter(({ events }) => events.some((entry) => matches(entry, eventType)))
      expect(matcherOf(subscribers)(eventType)).toEqual(expected)
    }),
  )
})

function matcherOf<Subscriber extends { readonly events: readonly string[] }>(
  subscribers: readonly Subscriber[],
): (eventType: string) => readonly Subscriber[] {
  const { add, match } = matcher<Subscriber>()
  for (const subscriber of subscribers) add(subscriber, interestsOf(subscriber.events))
  return match
}
