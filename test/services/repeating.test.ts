import { expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import { repeating } from '../../src/services/repeating.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { memoryLog } from '../http/api.ts'

test('a message that repeats is told once a minute, with how often it came, and others are told at once', async () => {
  const log = memoryLog()
  const clock = fakeClock()
  const { warn } = repeating(
    engineClock(clock, async () => clock.now(), log),
    log,
  )
  for (let n = 0; n < 3; n++) warn('refused', { n })
  warn('lost')
  await clock.advance('1m')
  warn('refused', { n: 3 })
  expect(log.lines.map(({ message, details }) => [message, details])).toEqual([
    ['refused', { n: 0 }],
    ['lost', undefined],
    ['refused', { n: 3, times: 3 }],
  ])
})
