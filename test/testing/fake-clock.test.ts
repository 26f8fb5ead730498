import { expect, test } from 'vitest'

import { duration, fakeClock } from '../../src/testing/fake-clock.ts'

test('it stands still, and goes on as it is told', async () => {
  const clock = fakeClock(1000)
  expect(clock.now()).toBe(1000)
  await clock.advance('1h')
  expect(clock.now()).toBe(3_601_000)
  await clock.advance(0)
  expect(clock.now()).toBe(3_601_000)
  expect(clock.system).toBe(false)
})

test('sleepers wake in the order of their times, each at its own', async () => {
  const clock = fakeClock(0)
  const woken: string[] = []
  const sleeper = async (name: string, ms: number) => {
    await clock.sleep(ms)
    woken.push(`${name} ${clock.now()}`)
  }
  const all = [sleeper('c', 300), sleeper('a', 100), sleeper('b', 200), sleeper('a too', 100)]
  await clock.advance(250)
  expect(woken).toEqual(['a 100', 'a too 100', 'b 200'])
  await clock.advance(50)
  expect(woken.at(-1)).toBe('c 300')
  await Promise.all(all)
})

test('a chain of sleeps runs through within one advance, however long', async () => {
  const clock = fakeClock(0)
  const times: number[] = []
  const chain = (async () => {
    for (let i = 0; i < 48; i++) {
      await clock.sleep(3_600_000)
      await new Promise((resolve) => setImmediate(resolve))
      times.push(clock.now())
    }
  })()
  await clock.advance('2d')
  await chain
  expect(times).toEqual(Array.from({ length: 48 }, (_, i) => (i + 1) * 3_600_000))
})

test('an aborted sleep ends at once, and no time passes', async () => {
  const clock = fakeClock(0)
  const abort = new AbortController()
  const sleep = clock.sleep(1000, abort.signal)
  abort.abort()
  await sleep
  await clock.sleep(1000, abort.signal)
  await clock.sleep(0)
  expect(clock.now()).toBe(0)
})

test('two that advance it at once arrive where each wanted to', async () => {
  const clock = fakeClock(0)
  await Promise.all([clock.advance(100), clock.advance(300)])
  expect(clock.now()).toBe(300)
})

test('spans are told in words or milliseconds', () => {
  expect(['250ms', '1.5s', '2m', '1h', '3d', 7].map(duration)).toEqual([250, 1500, 120_000, 3_600_000, 259_200_000, 7])
  expect(() => duration('soon')).toThrow(RangeError)
  expect(() => duration(-1)).toThrow(RangeError)
})
