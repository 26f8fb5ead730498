import { expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { FirstTries } from '../../src/worker/first-tries.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

/** @param tellsTurns whether the clock tells when a turn of the event loop ends, as that of the system does. */
function tries({ besideOthers = true, tellsTurns = true } = {}) {
  const fake = Object.assign(fakeClock(), tellsTurns ? { afterTurn() {} } : {})
  const subject = new FirstTries(
    engineClock(fake, async () => 0, log),
    () => besideOthers,
  )
  const begun: string[] = []
  const begin = (workspace: string, count: number) => {
    for (let n = 0; n < count; n++) subject.begin(workspace, () => begun.push(`${workspace}${n}`))
  }
  const count = (workspace: string) => begun.filter((name) => name.startsWith(workspace)).length
  return { fake, begun, begin, count }
}

test('beside others eight requests of a workspace begin in 8 ms, in their order', async () => {
  const { fake, begun, begin } = tries()
  begin('a', 20)
  expect(begun).toHaveLength(8)
  await fake.advance(8)
  expect(begun).toHaveLength(16)
  await fake.advance(8)
  expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => `a${n}`))
})

test('those of one workspace keep no other waiting', async () => {
  const { fake, begin, count } = tries()
  begin('a', 20)
  begin('b', 1)
  expect(count('b')).toBe(1)
  await fake.advance(8)
  begin('b', 8)
  expect(count('b')).toBe(9)
})

test.each([
  ['a workspace alone', { besideOthers: false }],
  ['a clock that does not tell its turns', { tellsTurns: false }],
])('%s is not limited', (_, setting) => {
  const { begun, begin } = tries(setting)
  begin('a', 100)
  expect(begun).toHaveLength(100)
})
