import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Database } from '../../adapters/postgres/database.ts'
import { notifier } from '../../adapters/postgres/notify.ts'
import { announcer } from '../../adapters/redis/announce.ts'
import type { Connection } from '../../adapters/redis/client.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

/** What an adapter announces with, and the times at which it did, milliseconds. */
const announcers = {
  PostgreSQL: (announced: () => void) => {
    const run = async () => {
      announced()
      return []
    }
    const notify = notifier({ run, schema: 's' } as Partial<Database> as Database, () => 'origin')
    return () => void notify('jobs')
  },
  Redis: (announced: () => void) => {
    const send = async () => {
      announced()
      return 0
    }
    return announcer({ send } as Partial<Connection> as Connection, 'channel').announce
  },
}

test.each(Object.entries(announcers))(
  '%s announces at once what comes alone, and in a burst with rests that grow to 50 ms',
  async (_, make) => {
    const times: number[] = []
    const startedAt = performance.now()
    const announce = make(() => times.push(performance.now() - startedAt))
    const pass = async (ms: number, each: () => void = () => {}) => {
      for (let i = 0; i < ms; i++) {
        each()
        await vi.advanceTimersByTimeAsync(1)
      }
    }
    announce()
    expect(times).toEqual([0])
    await pass(10)
    announce()
    expect(times, 'of what comes after a rest in which nothing came').toEqual([0, 10])
    await pass(240, announce)
    expect(times.slice(2), 'of a burst').toEqual([15, 25, 45, 85, 135, 185, 235])
    times.length = 0
    await pass(200)
    expect(times, 'of the last of the burst').toEqual([285])
    announce()
    expect(times, 'of what comes alone again').toEqual([285, 450])
  },
)
