import { describe, expect, test } from 'vitest'

import type { Thread } from '../../src/contracts/platform.ts'
import { makePool, type Job } from '../../src/plugins/pool/pool.ts'

type Answer = 'good' | 'late' | 'bomb'
interface Process {
  killed: boolean
  busy: boolean
  end(answer: Answer, busyMs?: number): void
  die(): void
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

/** Processes whose calls the test ends itself. */
function rig({ places = 100, timeMs = 1000 } = {}) {
  let at = 0
  /** What starts of processes wait for. */
  const starts = { gate: Promise.resolve() }
  const processes: Process[] = []
  const start = async (): Promise<Thread> => {
    await starts.gate
    let pending: { resolve(answer: { answer: Answer; busyMs: number }): void; reject(cause: Error): void } | undefined
    let alive = true
    const settle = () => {
      const call = pending
      pending = undefined
      process.busy = false
      return call
    }
    const process: Process = {
      killed: false,
      busy: false,
      end: (answer, busyMs = 0) => settle()?.resolve({ answer, busyMs }),
      die() {
        alive = false
        settle()?.reject(new Error('ended'))
      },
    }
    processes.push(process)
    return {
      get alive() {
        return alive
      },
      call: () =>
        new Promise((resolve, reject) => {
          process.busy = true
          pending = { resolve, reject }
        }),
      kill() {
        process.killed = true
        process.die()
      },
    }
  }
  const pool = makePool(start, { size: 2, places, timeMs }, () => at)
  const verdicts = { good: 'well', late: 'exceeded', bomb: 'spent' } as const
  const job = (script: object, workspace = 'w', owner = 'o', signal?: AbortSignal): Job<Answer> => ({
    tenant: { workspace, owner },
    script,
    signal,
    work: async (call) => (await call(null)) as Answer,
    judge: (answer) => verdicts[answer],
  })
  const run = (...whose: Parameters<typeof job>) => pool.run(job(...whose))
  const busy = () => processes.filter((process) => process.busy)
  /** Has a script end well once. */
  async function prove(script: object, workspace = 'w', owner = 'o') {
    const first = run(script, workspace, owner)
    await tick()
    busy().at(-1)!.end('good')
    await first
    await tick()
  }
  return { pool, starts, processes, busy, job, run, prove, pass: (ms: number) => void (at += ms) }
}

describe('the pool of processes', () => {
  test('has two processes for trusted scripts and one for the others, used again after a good end', async () => {
    const { processes, busy, run, prove } = rig()
    const script = {}
    await prove(script)
    const runs = [1, 2, 3].map(() => run(script))
    await tick()
    expect([processes.length, busy().length]).toEqual([3, 2])
    while (busy().length > 0) {
      for (const each of busy()) each.end('good')
      await tick()
    }
    expect((await Promise.all(runs)).map(({ kind }) => kind)).toEqual(['answer', 'answer', 'answer'])
    expect(processes).toHaveLength(3)
  })

  test('a new script, and one that exceeded a limit within a minute, leave a process to the others', async () => {
    const { busy, run, prove, pass } = rig()
    const [loop, fine] = [{}, {}]
    await prove(fine, 'v')
    const fresh = [run(loop), run(loop)]
    await tick()
    expect(busy()).toHaveLength(1)
    const other = run(fine, 'v')
    await tick()
    expect(busy()).toHaveLength(2)
    for (const each of busy()) each.end('late')
    await tick()
    for (const each of busy()) each.end('good')
    await Promise.all([...fresh, other])
    const again = [run(loop), run(loop)]
    await tick()
    expect(busy()).toHaveLength(1)
    busy()[0]!.end('good')
    await tick()
    busy()[0]!.end('good')
    await Promise.all(again)
    pass(60_001)
    const later = [run(loop), run(loop)]
    await tick()
    expect(busy()).toHaveLength(2)
    for (const each of busy()) each.end('good')
    await Promise.all(later)
  })

  test('a heavy run is held against its script for a moment, two scripts against their workspace', async () => {
    const { busy, run, prove, pass } = rig()
    const [one, two, three, foreign] = [{}, {}, {}, {}]
    for (const script of [one, two, three]) await prove(script)
    await prove(foreign, 'v')
    for (const script of [one, two]) {
      const heavy = run(script)
      await tick()
      busy()[0]!.end('good', 80)
      await heavy
      await tick()
    }
    const doubtful = [run(one), run(three)]
    const trusted = run(foreign, 'v')
    await tick()
    expect(busy()).toHaveLength(2)
    for (let i = 0; i < 2; i++) {
      for (const each of busy()) each.end('good')
      await tick()
    }
    await Promise.all([...doubtful, trusted])
    pass(2001)
    const later = [run(one), run(three)]
    await tick()
    expect(busy()).toHaveLength(2)
    for (const each of busy()) each.end('good')
    await Promise.all(later)
  })

  test('workspaces take turns, and inside a workspace first come is first served', async () => {
    const { busy, run, prove } = rig()
    const scripts = { a: {}, b: {} }
    await prove(scripts.a, 'a')
    await prove(scripts.b, 'b')
    const order: string[] = []
    const runs = (['a', 'a', 'a', 'a', 'a', 'b', 'b'] as const).map(async (workspace, i) => {
      await run(scripts[workspace], workspace)
      order.push(`${workspace}${i}`)
    })
    await tick()
    while (busy().length > 0) {
      busy()[0]!.end('good')
      await tick()
    }
    await Promise.all(runs)
    expect(order.indexOf('b5')).toBeLessThan(order.indexOf('a3'))
    expect(order.indexOf('b6')).toBeLessThan(order.indexOf('a4'))
    expect(order.indexOf('a2')).toBeLessThan(order.indexOf('a3'))
  })

  test('a tenant alone gets three quarters of the places, and another finds room at once', async () => {
    const { processes, busy, run, prove } = rig({ places: 100 })
    const [greedy, modest] = [{}, {}]
    await prove(greedy, 'g')
    await prove(modest, 'm')
    const outcomes: string[] = []
    // Each owner of a workspace has a share of that of the workspace.
    const many = Array.from({ length: 200 }, (_, i) =>
      run(greedy, 'g', `owner ${i}`).then(({ kind }) => void outcomes.push(kind)),
    )
    await tick()
    expect(outcomes).toEqual(Array.from({ length: 125 }, () => 'busy'))
    const other = run(modest, 'm')
    await tick()
    for (let i = 0; i < 3; i++) {
      for (const each of busy()) each.end('good')
      await tick()
    }
    expect((await other).kind).toBe('answer')
    for (let i = 0; i < 100 && busy().length > 0; i++) {
      for (const each of busy()) each.end('good')
      await tick()
    }
    await Promise.all(many)
    expect(processes).toHaveLength(3)
  })

  test('a process is ended when its memory is spent, when it does not answer in time, and replaced', async () => {
    const { processes, run } = rig({ timeMs: 10 })
    const first = run({})
    await tick()
    processes[0]!.end('bomb')
    expect(await first).toEqual({ kind: 'answer', answer: 'bomb' })
    await tick()
    expect(processes.map(({ killed }) => killed)).toEqual([true, false])
    expect(await run({})).toEqual({ kind: 'time' })
    expect(processes[1]!.killed).toBe(true)
    const last = run({})
    await tick()
    processes.at(-1)!.die()
    expect(await last).toEqual({ kind: 'ended' })
  })

  test('a run is refused when it waited too long, and when the request is over', async () => {
    const { processes, busy, run } = rig({ timeMs: 20 })
    const request = new AbortController()
    const script = {}
    const running = run(script)
    await tick()
    const over = run(script, 'w', 'o', request.signal)
    request.abort()
    expect(await over).toEqual({ kind: 'busy' })
    busy()[0]!.end('good')
    await running
    expect(processes).toHaveLength(1)
  })

  test('tells when the wait for a process is over', async () => {
    const { pool, busy, job } = rig()
    const told: string[] = []
    const script = {}
    const runs = ['one', 'two'].map((name) => pool.run({ ...job(script), onTurn: () => void told.push(name) }))
    await tick()
    expect(told).toEqual(['one'])
    busy()[0]!.end('good')
    await tick()
    expect(told).toEqual(['one', 'two'])
    busy()[0]!.end('good')
    await Promise.all(runs)
  })

  test('the start of a process is part of the wait', async () => {
    const { pool, busy, job, starts } = rig()
    let open = (): void => {}
    starts.gate = new Promise((resolve) => (open = resolve))
    let isTold = false
    const run = pool.run({ ...job({}), onTurn: () => (isTold = true) })
    await tick()
    expect(isTold).toBe(false)
    open()
    await tick()
    expect(isTold).toBe(true)
    busy()[0]!.end('good')
    await run
  })

  test('waits for the process that is being started in place of an ended one, and starts no other', async () => {
    const { pool, processes, busy, job, starts } = rig()
    const first = pool.run(job({}))
    await tick()
    let open = (): void => {}
    starts.gate = new Promise((resolve) => (open = resolve))
    busy()[0]!.end('bomb')
    await first
    const second = pool.run(job({}))
    await tick()
    expect(processes).toHaveLength(1)
    open()
    await tick()
    await tick()
    expect(processes).toHaveLength(2)
    busy()[0]!.end('good')
    await second
    expect(processes.map(({ killed }) => killed)).toEqual([true, false])
  })

  test('a process that was being started when the pool was closed is ended', async () => {
    const { pool, processes, busy, job, starts } = rig()
    const first = pool.run(job({}))
    await tick()
    let open = (): void => {}
    starts.gate = new Promise((resolve) => (open = resolve))
    busy()[0]!.end('bomb')
    await first
    pool.close()
    open()
    await tick()
    await tick()
    expect(processes.map(({ killed }) => killed)).toEqual([true, true])
  })

  test('tells when no process can be had', async () => {
    const none = makePool(() => Promise.reject(new Error('no process')), { size: 2, places: 10, timeMs: 1000 })
    const tenant = { workspace: 'w', owner: 'o' }
    await expect(none.run({ tenant, script: {}, work: (call) => call(null) })).rejects.toThrow('no process')
  })

  test('holds no process once closed, and starts anew when asked', async () => {
    const { pool, processes, busy, run, prove } = rig()
    await prove({})
    pool.close()
    pool.close()
    expect(processes[0]!.killed).toBe(true)
    const second = run({})
    await tick()
    busy()[0]!.end('good')
    expect((await second).kind).toBe('answer')
  })
})
