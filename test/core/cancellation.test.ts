import { describe, expect, test } from 'vitest'

import { Cancellation } from '../../src/core/cancellation.ts'

describe('a cancellation', () => {
  test('tells those who follow it, once, and those who stopped not at all', () => {
    const cancellation = new Cancellation()
    const told: string[] = []
    const gone = () => told.push('gone')
    cancellation.follow(() => told.push('first'))
    cancellation.follow(gone)
    cancellation.follow(() => told.push('second'))
    cancellation.unfollow(gone)
    cancellation.unfollow(() => {})
    expect(cancellation.canceled).toBe(false)
    cancellation.cancel()
    cancellation.cancel()
    expect(told).toEqual(['first', 'second'])
    expect(cancellation.canceled).toBe(true)
  })

  test.each([
    ['before', true],
    ['after', false],
  ])('aborts a signal that was asked for %s it was canceled', (_when, before) => {
    const cancellation = new Cancellation()
    const early = before ? cancellation.signal : null
    cancellation.cancel()
    expect(early?.aborted).toBe(before ? true : undefined)
    expect(cancellation.signal.aborted).toBe(true)
    expect(early ?? cancellation.signal).toBe(cancellation.signal)
  })
})
