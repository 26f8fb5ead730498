import { describe, expect, test } from 'vitest'

import type { Thread } from '../../src/contracts/platform.ts'
import { makePool, type Job } from '../../src/plugins/pool/pool.ts'

type Answer = 'good' | 'late' | 'bomb'
interface Process {
  killed: boolean
  busy: boolean
  /** The last that it was asked. */
  message: unknown
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
      message: null,
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
      call: (message) =>
        new Promise((resolve, reject) => {
          process.message = message
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

  describe('runs of a script that go together', () => {
    /** Runs that tell which bodies each message to a process carried. */
    function together({ timeMs = 1000 } = {}) {
      const { pool, ...rest } = rig({ timeMs })
      const messages: (readonly string[])[] = []
      const send = (bodies: readonly string[]) => {
        messages.push(bodies)
        return bodies
      }
      const run = (script: object, body: string, workspace = 'w') =>
        pool.run<string, string>({
          tenant: { workspace, owner: 'o' },
          script,
          work: async (call) => {
            return `${body}: ${String(await call(send([body])))}`
          },
          together: {
            part: body,
            work: async (call, parts) => {
              const answer = String(await call(send(parts)))
              return parts.map((part) => `${part}: ${answer}`)
            },
          },
        })
      /** Has a script end well, and tells what its runs take. */
      async function prove(script: object, tookMs: number, workspace = 'w') {
        const first = run(script, 'first', workspace)
        await tick()
        rest.busy().at(-1)!.end('good', tookMs)
        await first
        await tick()
        messages.length = 0
      }
      return { ...rest, pool, run, prove, messages }
    }

    test('are quick ones of one script that wait, and each has the answer to its own part', async () => {
      const { run, prove, busy, messages } = together()
      const [one, two] = [{}, {}]
      await prove(one, 0.1)
      await prove(two, 0.1)
      const ones = ['a', 'b', 'c', 'd', 'e'].map((body) => run(one, body))
      const twos = ['f', 'g'].map((body) => run(two, body))
      await tick()
      expect(messages).toEqual([['a'], ['b']])
      busy()[0]!.end('good')
      await tick()
      expect(messages.at(-1)).toEqual(['c', 'd', 'e'])
      while (busy().length > 0) {
        for (const each of busy()) each.end('good')
        await tick()
      }
      const answers = await Promise.all([...ones, ...twos])
      expect(answers).toEqual(
        ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((body) => ({ kind: 'answer', answer: `${body}: good` })),
      )
      expect(messages.at(-1)).toEqual(['f', 'g'])
    })

    test('are as few as take two milliseconds, and sixteen at most', async () => {
      const { run, prove, busy, messages } = together()
      for (const [tookMs, most] of [
        [0.01, 16],
        [0.5, 4],
        [1.5, 1],
        [30, 1],
      ] as const) {
        const script = {}
        await prove(script, tookMs)
        const runs = Array.from({ length: 20 }, (_, i) => run(script, String(i)))
        await tick()
        busy()[0]!.end('good', tookMs)
        await tick()
        expect(messages[2]).toHaveLength(most)
        while (busy().length > 0) {
          busy()[0]!.end('good')
          await tick()
        }
        await Promise.all(runs)
        messages.length = 0
      }
    })

    test('a workspace that has its turn takes it for one message, and the next workspace is served', async () => {
      const { run, prove, busy, messages } = together()
      const scripts = { a: {}, b: {} }
      await prove(scripts.a, 0.01, 'a')
      await prove(scripts.b, 0.01, 'b')
      const runs = Array.from({ length: 40 }, (_, i) => run(scripts.a, `a${i}`, 'a'))
      runs.push(run(scripts.b, 'b', 'b'))
      await tick()
      const before = messages.length
      for (let i = 0; i < 2; i++) {
        busy()[0]!.end('good')
        await tick()
      }
      expect(messages.slice(before).map(([first]) => first![0])).toEqual(['a', 'b'])
      while (busy().length > 0) {
        busy()[0]!.end('good')
        await tick()
      }
      await Promise.all(runs)
    })

    test('are each run again alone when their process ends, and only the one that ends it then is held to account', async () => {
      const { run, prove, busy, messages } = together()
      const script = {}
      await prove(script, 0.01)
      const runs = ['a', 'b', 'c', 'd', 'bad'].map((body) => run(script, body))
      await tick()
      for (const each of busy()) each.end('good')
      await tick()
      expect(messages.at(-1)).toEqual(['c', 'd', 'bad'])
      for (let i = 0; i < 20; i++) {
        for (const each of busy()) {
          if ((each.message as readonly string[]).includes('bad')) each.die()
          else each.end('good')
        }
        await tick()
      }
      expect((await Promise.all(runs)).map(({ kind }) => kind)).toEqual([
        'answer',
        'answer',
        'answer',
        'answer',
        'ended',
      ])
      expect(messages.slice(3).toSorted(([one], [other]) => (one! < other! ? -1 : 1))).toEqual([['bad'], ['c'], ['d']])
    })

    test('a script whose process ended with several runs in it may use all processes as before', async () => {
      const { run, prove, busy } = together()
      const script = {}
      await prove(script, 0.01)
      const runs = ['a', 'b', 'c', 'd'].map((body) => run(script, body))
      await tick()
      for (const each of busy()) each.end('good')
      await tick()
      busy()[0]!.die()
      await tick()
      expect(busy()).toHaveLength(2)
      while (busy().length > 0) {
        for (const each of busy()) each.end('good')
        await tick()
      }
      expect((await Promise.all(runs)).map(({ kind }) => kind)).toEqual(['answer', 'answer', 'answer', 'answer'])
    })
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
