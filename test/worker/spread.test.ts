import { describe, expect, test } from 'vitest'

import { engineClock } from '../../src/clock.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { Spread } from '../../src/worker/spread.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

function set(concurrency = 256) {
  const fake = fakeClock()
  const spread = new Spread(
    concurrency,
    engineClock(fake, async () => 0, log),
  )
  /** `count` requests that take `ms`, all side by side. */
  const work = async (count: number, ms: number): Promise<void> => {
    spread.began(Array.from({ length: count }, (_, i) => `${i}`))
    await fake.advance(ms)
    for (let i = 0; i < count; i++) spread.ended(`${i}`)
  }
  return { spread, fake, work }
}

describe('starts are not spread', () => {
  test('before a request has ended', async () => {
    const { spread, fake } = set()
    spread.began(Array.from({ length: 200 }, (_, i) => `${i}`))
    await fake.advance(10_000)
    expect([spread.gapMs(), spread.atOnce()]).toEqual([0, Infinity])
  })

  test('while requests take less than 250 ms', async () => {
    const { spread, work } = set()
    await work(500, 240)
    expect([spread.gapMs(), spread.atOnce()]).toEqual([0, Infinity])
  })
})

test('starts are spread over half of the time that a request takes', async () => {
  const { spread, work } = set()
  await work(500, 1000)
  expect(spread.gapMs()).toBe(20)
  expect(spread.atOnce()).toBe(11)
  await work(500, 500)
  expect(spread.gapMs()).toBe(10)
  expect(spread.atOnce()).toBe(11)
})

test('claims stay at most 20 ms apart, and take at least eight jobs', async () => {
  const { spread, work } = set(16)
  await work(500, 30_000)
  expect([spread.gapMs(), spread.atOnce()]).toEqual([20, 8])
})

test('a hundred quick answers after slow ones end the spreading', async () => {
  const { spread, work } = set()
  await work(500, 1000)
  expect(spread.gapMs()).toBe(20)
  await work(100, 5)
  expect([spread.gapMs(), spread.atOnce()]).toEqual([0, Infinity])
})

test('requests that began unseen are not counted', () => {
  const { spread } = set()
  spread.ended('unknown')
  expect(spread.gapMs()).toBe(0)
})
