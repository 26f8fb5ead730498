import { describe, expect, test } from 'vitest'

import { engineClock, systemClock } from '../src/clock.ts'
import type { Clock } from '../src/contracts/clock.ts'

/** A system clock whose wall can be set, beside an engine; time passes when it is told to. */
function set({ engineAhead = 0 } = {}) {
  let passed = 1000
  let wallAhead = 0
  let asked = 0
  let isDown = false
  const start = 1_700_000_000_000
  const warnings: string[] = []
  const wall: Clock = {
    system: true,
    now: () => start + passed + wallAhead,
    elapsed: () => passed,
    sleep: async () => {},
  }
  const engineNow = () => start + passed + engineAhead
  const clock = engineClock(
    wall,
    async () => {
      asked++
      if (isDown) throw new Error('gone')
      return engineNow()
    },
    { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} },
  )
  return {
    clock,
    engineNow,
    warnings,
    asked: () => asked,
    pass: (ms: number) => void (passed += ms),
    setWall: (ms: number) => void (wallAhead += ms),
    goDown: (now: boolean) => void (isDown = now),
  }
}

describe('the time of the engine', () => {
  test('is asked for once, then goes on with what passes, and is asked for again after a minute', async () => {
    const { clock, engineNow, asked, pass, warnings } = set({ engineAhead: 300_000 })
    await Promise.all([clock.ready(), clock.ready()])
    expect([clock.now(), asked()]).toEqual([engineNow(), 1])
    pass(59_000)
    await clock.ready()
    expect([clock.now(), asked()]).toEqual([engineNow(), 1])
    pass(1000)
    await clock.ready()
    expect(asked()).toBe(2)
    expect(warnings).toEqual([
      'the clock of this process differs from that of the storage; due times follow the storage',
    ])
  })

  test.each([1000, -1000, 3_600_000, -3_600_000, 86_400_000, -86_400_000])(
    'stands when the wall clock is set by %i ms, which is noticed at once and warned of once',
    async (ms) => {
      const { clock, engineNow, asked, setWall, pass, warnings } = set()
      await clock.ready()
      pass(500)
      setWall(ms)
      expect(clock.now()).toBe(engineNow())
      await clock.ready()
      expect([clock.now(), asked()]).toEqual([engineNow(), 2])
      pass(500)
      await clock.ready()
      expect([clock.now(), asked()]).toEqual([engineNow(), 2])
      expect(warnings).toEqual(['the clock of this process was set; due times follow the storage'])
    },
  )

  test('is asked for again after the machine was suspended: the monotonic clock stood still meanwhile', async () => {
    const { clock, asked, setWall } = set()
    await clock.ready()
    setWall(7_200_000)
    await clock.ready()
    expect(asked()).toBe(2)
  })

  test('goes on when the engine does not tell it, and fails when it was never known', async () => {
    const { clock, engineNow, asked, pass, goDown, warnings } = set()
    goDown(true)
    await expect(clock.ready()).rejects.toThrow('gone')
    goDown(false)
    await clock.ready()
    goDown(true)
    pass(60_000)
    await clock.ready()
    await clock.ready()
    expect([clock.now(), asked()]).toEqual([engineNow(), 3])
    expect(warnings).toEqual(['the storage did not tell its time'])
  })

  test('fails when the wall clock was set and the engine does not tell it: this process may have been suspended', async () => {
    const { clock, engineNow, asked, setWall, goDown, warnings } = set()
    await clock.ready()
    setWall(7_200_000)
    goDown(true)
    await expect(clock.ready()).rejects.toThrow('gone')
    await expect(clock.ready()).rejects.toThrow('gone')
    goDown(false)
    await clock.ready()
    expect([clock.now(), asked()]).toEqual([engineNow(), 4])
    expect(warnings).toEqual(['the clock of this process was set; due times follow the storage'])
  })
})

test('the clock of the system tells the time between two moments, and a clock that does not gets one', async () => {
  const { system, now, sleep } = systemClock()
  for (const clock of [systemClock(), { system, now, sleep }]) {
    const engine = engineClock(clock, async () => now(), { debug() {}, info() {}, warn() {}, error() {} })
    const before = engine.elapsed()
    await sleep(5)
    expect(engine.elapsed() - before).toBeGreaterThan(3)
  }
  const fake = engineClock({ system: false, now: () => 7, sleep }, async () => 0, {
    debug() {},
    info() {},
    warn() {},
    error() {},
  })
  expect([fake.now(), fake.elapsed()]).toEqual([7, 7])
})
