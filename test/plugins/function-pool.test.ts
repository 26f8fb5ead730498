import { describe, expect, test } from 'vitest'

import type { Thread } from '../../src/contracts/platform.ts'
import { makePool } from '../../src/plugins/function/pool.ts'
import type { Ending, Run } from '../../src/plugins/function/sandbox.ts'

const run: Run = { source: '', subject: null, timeMs: 1000 }
const done: Ending = { kind: 'done', lines: [], headers: {} }
const late: Ending = { kind: 'exceeded', lines: [], limit: 'time' }

/** Threads whose calls the test ends itself. */
function rig({ waiting = 10, timeMs = 1000 } = {}) {
  const threads: { killed: boolean; end(ending: Ending): void; die(cause: Error): void; busy: boolean }[] = []
  const start = (): Promise<Thread> => {
    let pending: { resolve(ending: Ending): void; reject(cause: Error): void } | undefined
    const settle = () => {
      const call = pending
      pending = undefined
      thread.busy = false
      return call
    }
    const thread = {
      killed: false,
      busy: false,
      end: (ending: Ending) => settle()?.resolve(ending),
      die: (cause: Error) => settle()?.reject(cause),
    }
    threads.push(thread)
    return Promise.resolve({
      call: () =>
        new Promise((resolve, reject) => {
          thread.busy = true
          pending = { resolve, reject }
        }),
      kill() {
        thread.killed = true
        thread.die(new Error('killed'))
      },
    })
  }
  const pool = makePool(start, { size: 2, waiting, timeMs })
  const tick = () => new Promise((resolve) => setImmediate(resolve))
  const busy = () => threads.filter((thread) => thread.busy)
  return { pool, threads, busy, tick }
}

describe('the pool of threads', () => {
  test('has two threads at most, used again after a good end', async () => {
    const { pool, threads, busy, tick } = rig()
    const runs = [1, 2, 3].map(() => pool.run({}, run))
    await tick()
    expect(busy()).toHaveLength(2)
    threads[0]!.end(done)
    expect(await runs[0]).toEqual(done)
    await tick()
    expect([threads.length, busy().length]).toEqual([2, 2])
    for (const thread of threads) thread.end(done)
    expect(await Promise.all(runs)).toEqual([done, done, done])
  })

  test('kills and replaces a thread whose run exceeded a limit', async () => {
    const { pool, threads, tick } = rig()
    const first = pool.run({}, run)
    await tick()
    threads[0]!.end(late)
    expect(await first).toEqual(late)
    await tick()
    expect(threads.map(({ killed }) => killed)).toEqual([true, false])
    const second = pool.run({}, run)
    await tick()
    expect(threads).toHaveLength(2)
    threads[1]!.end(done)
    expect(await second).toEqual(done)
  })

  test('kills a thread that does not answer in time', async () => {
    const { pool, threads } = rig({ timeMs: 10 })
    expect(await pool.run({}, run)).toEqual(late)
    expect(threads[0]!.killed).toBe(true)
  })

  test('a script that was slow leaves a thread to the others until it ends well again', async () => {
    const { pool, threads, busy, tick } = rig()
    const slow = {}
    const strike = pool.run(slow, run)
    await tick()
    threads[0]!.end(late)
    await strike
    const again = [pool.run(slow, run), pool.run(slow, run)]
    await tick()
    expect(busy()).toHaveLength(1)
    const healthy = pool.run({}, run)
    await tick()
    expect(busy()).toHaveLength(2)
    for (let i = 0; i < 3; i++) {
      for (const thread of busy()) thread.end(done)
      await tick()
    }
    expect(await Promise.all([...again, healthy])).toEqual([done, done, done])
    const both = [pool.run(slow, run), pool.run(slow, run)]
    await tick()
    expect(busy()).toHaveLength(2)
    for (const thread of busy()) thread.end(done)
    await Promise.all(both)
  })

  test('answers busy when too many wait, when one waits too long, and when the request is over', async () => {
    const { pool, threads, busy, tick } = rig({ waiting: 2, timeMs: 20 })
    const request = new AbortController()
    const running = [pool.run({}, run), pool.run({}, run)]
    await tick()
    const over = pool.run({}, run, request.signal)
    request.abort()
    expect(await over).toBe('busy')
    const waiting = [pool.run({}, run), pool.run({}, run)]
    expect(await pool.run({}, run)).toBe('busy')
    expect(busy()).toHaveLength(2)
    expect(await Promise.all(waiting)).toEqual(['busy', 'busy'])
    for (const thread of threads) thread.end(done)
    await Promise.all(running)
  })

  test('tells when no thread can be had, and when one dies', async () => {
    const none = makePool(() => Promise.reject(new Error('no thread')), { size: 2, waiting: 1, timeMs: 1000 })
    await expect(none.run({}, run)).rejects.toThrow('no thread')
    const { pool, threads, tick } = rig()
    const first = pool.run({}, run)
    await tick()
    threads[0]!.die(new Error('crashed'))
    await expect(first).rejects.toThrow('crashed')
    const second = pool.run({}, run)
    await tick()
    threads.at(-1)!.end(done)
    expect(await second).toEqual(done)
  })

  test('holds no thread once closed, and starts anew when asked', async () => {
    const { pool, threads, tick } = rig()
    const first = pool.run({}, run)
    await tick()
    threads[0]!.end(done)
    await first
    pool.close()
    pool.close()
    expect(threads[0]!.killed).toBe(true)
    const second = pool.run({}, run)
    await tick()
    threads[1]!.end(done)
    expect(await second).toEqual(done)
  })
})
