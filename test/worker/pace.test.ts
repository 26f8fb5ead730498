import { expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import type { Claim } from '../../src/contracts/queue.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { Pace } from '../../src/worker/pace.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

interface Setting {
  readonly leastMs?: number | null
  readonly besideOthers?: boolean
  /** Whether the clock tells when a turn of the event loop ends: here, when `endTurn` is called. */
  readonly hasTurns?: boolean
}

function paced({ leastMs = 1, besideOthers = true, hasTurns = false }: Setting = {}) {
  const ends: (() => void)[] = []
  const turns = hasTurns ? { afterTurn: (end: () => void) => void ends.push(end) } : {}
  const fake = Object.assign(fakeClock(), turns)
  const clock = engineClock(fake, async () => 0, log)
  let turnsEnded = 0
  const pace = new Pace(
    clock,
    () => leastMs,
    () => turnsEnded++,
  )
  if (besideOthers) pace.sees('other')
  let made = 0
  const begin = (isStored = true, workspace = 'w'): Claim => {
    const claim = { id: `${made++}`, workspace, group: 'e', due_at: 0, token: 't' }
    pace.sees(workspace)
    pace.begins(claim, isStored)
    return claim
  }
  /** Begins requests while one more may begin, at most 1,000. */
  const beginAll = (): number => {
    let count = 0
    for (; count < 1000 && pace.allows('w'); count++) begin()
    return count
  }
  /** Answers how often it was told that more may begin. */
  const endTurn = (): number => {
    for (const end of ends.splice(0)) end()
    return turnsEnded
  }
  return { fake, pace, begin, beginAll, endTurn }
}

test('a workspace alone begins as many requests as it has slots', () => {
  expect(paced({ besideOthers: false }).beginAll()).toBe(1000)
})

test('beside others it has 12 quick requests in flight, and the next begins when one has ended', () => {
  const { pace, begin, beginAll } = paced()
  const first = begin()
  expect(beginAll()).toBe(11)
  pace.ended(first)
  expect(beginAll()).toBe(1)
  expect(pace.allows('other')).toBe(true)
})

test.each([
  ['that nobody knows yet', null, 12],
  ['that takes 2 ms', 2, 12],
  ['that takes 16 ms', 16, 96],
])('an endpoint %s', (_, leastMs, most) => {
  expect(paced({ leastMs }).beginAll()).toBe(most)
})

test('beside others it begins 8 requests in a turn of the event loop, and hears when the turn ends', () => {
  const { pace, begin, beginAll, endTurn } = paced({ leastMs: 1000, hasTurns: true })
  expect(beginAll()).toBe(8)
  expect(pace.allows('other')).toBe(true)
  expect(endTurn()).toBe(1)
  expect(beginAll()).toBe(8)
  expect(endTurn()).toBe(2)
  begin()
  expect(endTurn()).toBe(2) // nothing waited for it
})

test('what others begin in a turn takes nothing of it', () => {
  const { begin, beginAll } = paced({ hasTurns: true })
  for (let n = 0; n < 8; n++) begin(true, 'other')
  expect(beginAll()).toBe(8)
})

test('alone it begins as many in a turn as it has slots', () => {
  expect(paced({ besideOthers: false, hasTurns: true }).beginAll()).toBe(1000)
})

test('requests in flight for long count no more, those of jobs that are being stored do', async () => {
  const { fake, pace, begin, beginAll } = paced()
  const stored = begin(false)
  expect(beginAll()).toBe(11)
  await fake.advance(30)
  expect(beginAll()).toBe(11)
  pace.stored(stored)
  await fake.advance(30)
  expect(beginAll()).toBe(12)
})

test('once nobody else has had a request for a second, it is alone', async () => {
  const { fake, beginAll } = paced()
  expect(beginAll()).toBe(12)
  await fake.advance(1000)
  expect(beginAll()).toBe(1000)
})
