import { expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import type { Claim } from '../../src/contracts/queue.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { Pace } from '../../src/worker/pace.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

function paced({ takesMs = 1, besideOthers = true }: { takesMs?: number | null; besideOthers?: boolean } = {}) {
  const fake = fakeClock()
  const clock = engineClock(fake, async () => 0, log)
  const pace = new Pace(clock, () => takesMs)
  if (besideOthers) pace.sees('other')
  let made = 0
  const begin = (isStored = true): Claim => {
    const claim = { id: `${made++}`, workspace: 'w', group: 'e', due_at: 0, token: 't' }
    pace.sees('w')
    pace.begins(claim, isStored)
    return claim
  }
  /** Begins requests while one more may begin, at most 1,000. */
  const beginAll = (): number => {
    let count = 0
    for (; count < 1000 && pace.allows('w'); count++) begin()
    return count
  }
  return { fake, pace, begin, beginAll }
}

test('a workspace alone begins as many requests as it has slots', () => {
  expect(paced({ besideOthers: false }).beginAll()).toBe(1000)
})

test('beside others it has 24 quick requests in flight, and the next begins when one has ended', () => {
  const { pace, begin, beginAll } = paced()
  const first = begin()
  expect(beginAll()).toBe(23)
  pace.ended(first)
  expect(beginAll()).toBe(1)
  expect(pace.allows('other')).toBe(true)
})

test.each([
  ['that nobody knows yet', null, 24],
  ['that takes 4 ms', 4, 24],
  ['that takes 16 ms', 16, 96],
])('an endpoint %s', (_, takesMs, most) => {
  expect(paced({ takesMs }).beginAll()).toBe(most)
})

test('requests in flight for long count no more, those of jobs that are being stored do', async () => {
  const { fake, pace, begin, beginAll } = paced()
  const stored = begin(false)
  expect(beginAll()).toBe(23)
  await fake.advance(60)
  expect(beginAll()).toBe(23)
  pace.stored(stored)
  await fake.advance(60)
  expect(beginAll()).toBe(24)
})

test('once nobody else has had a request for a second, it is alone', async () => {
  const { fake, beginAll } = paced()
  expect(beginAll()).toBe(24)
  await fake.advance(1000)
  expect(beginAll()).toBe(1000)
})
