import { describe, expect, test } from 'vitest'

import { nextAttempt } from '../../src/core/next-attempt.ts'
import { fanout, manual } from '../../src/core/fanout.ts'
import { retryAfter } from '../../src/core/retry-after.ts'
import { endpointRow } from '../support/rows.ts'

const newId = () => 'new'

describe('a retry policy', () => {
  const [first] = fanout(
    'event',
    [endpointRow({ retry: { strategy: 'fixed', config: { attempts: [5, 60, 3600], jitter: 0 } } })],
    1000,
    newId,
  )

  test('schedules the first try after its first entry', () => {
    expect(first).toMatchObject({ attempt_number: 1, scheduled_at: 6000, trigger_mode: 'INITIAL' })
  })

  test('counts each wait from the end of the try before', () => {
    const second = nextAttempt(first!, [5, 60, 3600], 10_000, 0, newId)
    expect(second).toMatchObject({
      attempt_number: 2,
      scheduled_at: 70_000,
      trigger_mode: 'AUTOMATIC',
      created_at: 10_000,
    })
    const third = nextAttempt(second!, [5, 60, 3600], 100_000, 0, newId)
    expect(third).toMatchObject({ attempt_number: 3, scheduled_at: 3_700_000 })
    expect(nextAttempt(third!, [5, 60, 3600], 0, 0, newId)).toBeNull()
  })

  test('is the one the endpoint has at that moment', () => {
    expect(nextAttempt(first!, [0], 10_000, 0, newId)).toBeNull()
    expect(nextAttempt(first!, [0, 1], 10_000, 0, newId)).toMatchObject({ scheduled_at: 11_000 })
  })

  test('goes on from its second entry after a manual try', () => {
    const asked = manual('event', 'endpoint', 500, newId)
    expect(asked).toMatchObject({ attempt_number: 1, scheduled_at: 500, trigger_mode: 'MANUAL' })
    expect(nextAttempt(asked, [0, 60], 1000, 0, newId)).toMatchObject({ attempt_number: 2, trigger_mode: 'AUTOMATIC' })
  })

  test('is moved later by a receiver that asks for it, never earlier', () => {
    expect(nextAttempt(first!, [0, 60], 1000, 120_000, newId)).toMatchObject({ scheduled_at: 120_000 })
    expect(nextAttempt(first!, [0, 60], 1000, 2000, newId)).toMatchObject({ scheduled_at: 61_000 })
  })

  test('with a wait beyond all time saturates', () => {
    expect(nextAttempt(first!, [0, Number.MAX_SAFE_INTEGER], 1000, 0, newId)?.scheduled_at).toBe(
      Number.MAX_SAFE_INTEGER,
    )
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-11-21T10:00:00Z')
  test.each([
    ['120', now + 120_000],
    [' 1 ', now + 1000],
    ['0', null],
    ['999999999999999999999', now + 86_400_000],
    ['Sat, 21 Nov 2026 10:05:00 GMT', now + 300_000],
    ['Saturday, 21-Nov-26 10:05:00 GMT', now + 300_000],
    ['Sat Nov 21 10:05:00 2026', now + 300_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', null],
    ['Sat, 21 Nov 2030 10:00:00 GMT', now + 86_400_000],
    ['2026-11-21T10:05:00Z', null],
    ['1.5', null],
    ['-1', null],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('%s', (value, expected) => {
    expect(retryAfter(value, now)).toBe(expected)
  })
})
