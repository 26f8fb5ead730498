import { expect, test } from 'vitest'

import { fakeClock } from '../../src/testing/fake-clock.ts'
import { FirstTries } from '../../src/worker/first-tries.ts'

/** @param system whether the clock says that it is the system's. */
function tries({ besideOthers = true, system = true } = {}) {
  const fake = fakeClock()
  const subject = new FirstTries({ system, sleep: (ms) => fake.sleep(ms) }, () => besideOthers)
  const begun: string[] = []
  const begin = (workspace: string, count: number) => {
    for (let n = 0; n < count; n++) subject.begin(workspace, () => begun.push(`${workspace}${n}`))
  }
  const count = (workspace: string) => begun.filter((name) => name.startsWith(workspace)).length
  return { fake, subject, begun, begin, count }
}

test('beside others eight requests of a workspace begin in 16 ms, in their order', async () => {
  const { fake, begun, begin } = tries()
  begin('a', 20)
  expect(begun).toHaveLength(8)
  await fake.advance(16)
  expect(begun).toHaveLength(16)
  await fake.advance(16)
  expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => `a${n}`))
})

test('a flush begins all that wait, and the next ones have their pace', async () => {
  const { fake, subject, begun, begin } = tries()
  begin('a', 20)
  subject.flush()
  expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => `a${n}`))
  await fake.advance(16)
  begin('a', 20)
  expect(begun).toHaveLength(28)
})

test('those of one workspace keep no other waiting', async () => {
  const { fake, begin, count } = tries()
  begin('a', 20)
  begin('b', 1)
  expect(count('b')).toBe(1)
  await fake.advance(16)
  begin('b', 8)
  expect(count('b')).toBe(9)
})

test.each([
  ['a workspace alone', { besideOthers: false }],
  ['a fake clock', { system: false }],
])('%s is not limited', (_, setting) => {
  const { begun, begin } = tries(setting)
  begin('a', 100)
  expect(begun).toHaveLength(100)
})
