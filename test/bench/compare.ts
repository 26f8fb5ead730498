import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus, totalmem } from 'node:os'

import { serverCpuSeconds } from './server-cpu.ts'

/** What one run of a contender came to. */
export interface Run {
  readonly seconds: number
  /** Of the contender's own process. */
  readonly cpuSeconds: number
  readonly peakMiB: number
  /** Of the servers. */
  readonly serverSeconds: number
}

/** What a run is given. It travels as JSON. */
export interface Setting {
  readonly postgres: string
  readonly redis: string
  /** Fresh for each run. */
  readonly schema: string
  /** The receiver's. */
  readonly url: string
  readonly events: number
  /** JSON. */
  readonly data: string
}

/** One thing that is measured. It prepares itself, then answers what is to be timed; each run has a process of its own. */
export type Contender = (setting: Setting) => Promise<{
  work(): Promise<void>
  /** Throws when the work was not done. */
  check?(): Promise<void>
  close(): Promise<void>
}>

/** Whether less is to be done, for a look; runs are told by their environment. */
export const quick = process.argv.includes('--quick') || process.env['BENCH_QUICK'] === 'yes'

/** Whether this process is a run of a contender; then it does that and ends. */
export async function isRun(contenders: Readonly<Record<string, Contender>>): Promise<boolean> {
  const [, , what, name, setting] = process.argv
  if (what !== 'run') return false
  const { work, check, close } = await contenders[name!]!(JSON.parse(setting!) as Setting)
  globalThis.gc?.()
  process.send!('started')
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  // Before the check, which asks the servers for more than the work did.
  process.send!('worked')
  await once(process, 'message')
  await check?.()
  const run: Omit<Run, 'serverSeconds'> = {
    seconds,
    cpuSeconds: (user + system) / 1e6,
    peakMiB: process.resourceUsage().maxRSS / 1024,
  }
  await close()
  process.send!(run, () => process.exit())
  return true
}

/** Runs a contender once, in a process of its own. */
export async function runApart(name: string, setting: Setting): Promise<Run> {
  const profile = process.env['BENCH_PROFILE'] // a folder for profiles of the processor
  const execArgv = ['--expose-gc', ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`])]
  const child = fork(process.argv[1]!, ['run', name, JSON.stringify(setting)], {
    execArgv,
    env: { ...process.env, ...(quick && { BENCH_QUICK: 'yes' }) },
  })
  return await new Promise<Run>((resolve, reject) => {
    let serversBefore = 0
    let serverSeconds = 0
    let run: Run | undefined
    child.on('message', (message) => {
      if (message === 'started') serversBefore = serverCpuSeconds()
      else if (message === 'worked') {
        serverSeconds = serverCpuSeconds() - serversBefore
        child.send('counted')
      } else run = { ...(message as Omit<Run, 'serverSeconds'>), serverSeconds } // what `isRun` sends then
    })
    child.once('exit', (code) => {
      if (run !== undefined) resolve(run)
      else reject(new Error(`${name} ended with code ${code} and no result`))
    })
  })
}

export interface Summary {
  readonly name: string
  readonly perSecond: number
  /** Processor time of the contender's process, and of the servers, by item. */
  readonly cpuMicros: number
  readonly serverMicros: number
  readonly peakMiB: number
  readonly runs: readonly Run[]
}

/** Runs all contenders `rounds` times, in turn, and answers the medians. */
export async function compare(
  names: readonly string[],
  {
    rounds,
    items,
    contender = (name) => name,
    setting,
    after = async () => {},
  }: {
    rounds: number
    items: number
    /** What runs under a name, where that is not the contender of this name. */
    contender?: (name: string) => string
    setting: (name: string) => Promise<Setting>
    /** Called after each run; throws when the run does not count. */
    after?: (name: string) => Promise<void>
  },
): Promise<Summary[]> {
  const runs = new Map<string, Run[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    // Another order each round, so that nobody always comes after the same one.
    const order = [...names.slice(round % names.length), ...names.slice(0, round % names.length)]
    for (const name of order) {
      runs.get(name)!.push(await runApart(contender(name), await setting(name)))
      await after(name)
    }
  }
  return names.map((name) => {
    const all = runs.get(name)!
    return {
      name,
      perSecond: items / median(all.map(({ seconds }) => seconds)),
      cpuMicros: (median(all.map(({ cpuSeconds }) => cpuSeconds)) / items) * 1e6,
      serverMicros: (median(all.map(({ serverSeconds }) => serverSeconds)) / items) * 1e6,
      peakMiB: median(all.map(({ peakMiB }) => peakMiB)),
      runs: all,
    }
  })
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function say(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** Rows in columns: the first to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  for (const row of [head, ...rows]) {
    say(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('   '))
  }
}

/** The machine and the runtime, for the line above a table. */
export function machine(): string {
  const [first] = cpus()
  return `${cpus().length} x ${first?.model.trim()}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, node ${process.version}`
}

/** Calls `work` with 0 to `count` - 1, at most `width` at a time. */
export async function sideBySide(count: number, width: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}
