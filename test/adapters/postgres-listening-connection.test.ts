import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { listeningConnection } from '../../adapters/postgres/listening-connection.ts'

beforeEach(() =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
)
afterEach(() => vi.useRealTimers())

/** A line to a server that hears what is said, unless it is silent. */
function lines() {
  let isSilent = false
  let isAway = false
  let opened = 0
  let closed = 0
  let regains = 0
  let spoken = 0
  let hear: (payload: string) => void = () => {}
  const line = listeningConnection({
    open: async (hears) => {
      opened++
      isSilent = false
      hear = hears
      return async () => void closed++
    },
    hears: () => {},
    regained: () => void regains++,
    speak: async () => {
      spoken++
      if (isAway) throw new Error('away')
      if (!isSilent) hear('')
    },
  })
  return {
    line,
    silence: () => void (isSilent = true),
    away: (is: boolean) => void (isAway = is),
    say: () => hear('news'),
    seen: () => ({ opened, closed, regains, spoken }),
  }
}

test('a quiet line is spoken on every 15 s, and stays when it answers', async () => {
  const { line, seen } = lines()
  await line.open()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen()).toEqual({ opened: 1, closed: 0, regains: 0, spoken: 4 })
  expect(line.isWell()).toBe(true)
  await line.close()
})

test('a line on which others speak is left alone', async () => {
  const { line, say, seen } = lines()
  await line.open()
  for (let i = 0; i < 10; i++) {
    await vi.advanceTimersByTimeAsync(10_000)
    say()
  }
  expect(seen().spoken).toBe(0)
  await line.close()
})

test('a silent line is told as not well, and replaced within 30 s; then anything may have been missed', async () => {
  const { line, silence, seen } = lines()
  await line.open()
  silence()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(seen()).toEqual({ opened: 2, closed: 1, regains: 1, spoken: 1 })
  expect(line.isWell()).toBe(true)
  await line.close()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen().spoken).toBe(1)
})

test('a server that is away says nothing of the line', async () => {
  const { line, away, silence, seen } = lines()
  await line.open()
  away(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(seen()).toMatchObject({ opened: 1, regains: 0 })
  away(false)
  silence()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(seen()).toMatchObject({ opened: 2, regains: 1 })
  await line.close()
})
