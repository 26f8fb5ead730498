import { setTimeout as sleep } from 'node:timers/promises'

import { type Contender, isRun, machine, median, quick, runApart, say, sideBySide } from './compare.ts'
import { type Engine, freshPlace, openPosthorn } from './engines.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'
import { isTenants, startTenants } from './tenants.ts'

// Workspace B has one instant endpoint and 20 events a second for 20 s: alone, then beside workspace A, in one process, so
// that each run is compared with itself. The endpoints of A are in a process of their own. Latency is from the call that
// publishes to the arrival, on one clock.
//
// How the half hour is spent: nine cases beside, of which the first three times, are 11 runs of 46 s for each engine, or
// 25 minutes; 200,000 due jobs take a minute more to publish; equal slots take 20 s an engine. BENCH_FULL=yes runs
// all cases three times, in some three hours. Words choose engines and parts: `npm run bench -- shares redis a d even`.

const engines = ['memory', 'postgres', 'redis'] as const satisfies readonly Engine[]
const full = process.env['BENCH_FULL'] === 'yes'
const seconds = quick ? 4 : 20
const perSecond = 20
const warmUps = 1000
const timeout = 30_000
const mostP50 = 2
const mostP99 = 3
const mostMs = 1000
const mostUneven = 0.1
const wellMs = seconds * 500
/** Deliveries a second to endpoints that shall turn, at least. */
const turningPerSecond = 160

const kinds = {
  a: { says: 'answers after 1 s', path: 'late/1000' },
  b: { says: 'answers 200, never ends', path: 'endless/0' },
  c: { says: 'never answers', path: 'silent/0' },
  d: { says: `well for ${wellMs / 1000} s, then never`, path: `turning/${wellMs}` },
} as const
type Kind = keyof typeof kinds

interface Case {
  readonly kind: Kind
  readonly endpoints: number
  /** Events due for each endpoint when B is measured. Endpoints that shall turn get theirs meanwhile instead. */
  readonly due: number
  readonly rounds: number
}

const headline: Case = { kind: 'a', endpoints: 16, due: 200, rounds: quick ? 1 : 3 }
const cases: readonly Case[] = full
  ? (['a', 'b', 'c', 'd'] as const).flatMap((kind) =>
      [16, 20, 1000].flatMap((endpoints) =>
        (kind === 'a' ? [16, 200] : kind === 'd' ? [0] : [endpoints < 1000 ? 200 : 16]).map((due) => ({
          kind,
          endpoints,
          due,
          rounds: 3,
        })),
      ),
    )
  : [
      headline,
      { kind: 'a', endpoints: 1000, due: 16, rounds: 1 },
      { kind: 'a', endpoints: 1000, due: 200, rounds: 1 },
      { kind: 'b', endpoints: 16, due: 200, rounds: 1 },
      { kind: 'b', endpoints: 1000, due: 16, rounds: 1 },
      { kind: 'c', endpoints: 16, due: 200, rounds: 1 },
      { kind: 'c', endpoints: 1000, due: 16, rounds: 1 },
      { kind: 'd', endpoints: 16, due: 0, rounds: 1 },
      { kind: 'd', endpoints: 1000, due: 0, rounds: 1 },
    ]

/** What a run is to do, and where. */
interface Task {
  readonly run: string
  readonly tenants: string
  readonly beside: Case
}

/** A run of B alone and beside A. */
function neighboursOn(engine: Engine): Contender {
  return async (setting) => {
    let warm = (): void => {}
    const warmed = new Promise<void>((resolve) => (warm = resolve))
    let recorded = 0
    const { posthorn, close } = await openPosthorn(engine, setting, {
      settled(count) {
        recorded += count
        if (recorded >= warmUps) warm()
      },
    })
    const { run, tenants, beside } = JSON.parse(setting.data) as Task
    for (const id of ['a', 'b']) await posthorn.workspaces.create({ id })
    await posthorn.endpoints.create('b', { request: { url: `${setting.url}/${run}` }, events: ['*'] })
    await posthorn.config.sync('a', {
      endpoints: Array.from({ length: beside.endpoints }, (_, i) => ({
        name: `endpoint ${i}`,
        request: { url: `${tenants}/${kinds[beside.kind].path}/${run}/${i}`, timeout },
        events: ['*'],
      })),
    })
    const publish = (workspace: 'a' | 'b', data: object = {}) =>
      posthorn.events.create(workspace, { event_type: 'x', data })

    async function measure(phase: 'alone' | 'beside'): Promise<void> {
      globalThis.gc?.()
      await sleep(50)
      await pace(perSecond, () => publish('b', { phase, at: sharedNow() }))
      await sleep(300) // for the last ones to arrive
    }

    await posthorn.start()
    await sideBySide(warmUps, 64, () => publish('b'))
    await warmed
    await sleep(200)
    return {
      async work() {
        await measure('alone')
        if (beside.kind === 'd') {
          const each = Math.max(turningPerSecond / beside.endpoints, 0.5)
          await Promise.all([pace(each, () => publish('a')), measure('beside')])
        } else {
          await sideBySide(beside.due, 8, () => publish('a'))
          await measure('beside')
        }
        await sleep(mostMs + 500) // what comes later than that is too late anyway
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}

/** Calls `work` so many times a second, whether it has ended or not. */
async function pace(rate: number, work: () => Promise<unknown>): Promise<void> {
  const startedAt = sharedNow()
  const made: Promise<unknown>[] = []
  for (let i = 0; i < seconds * rate; i++) {
    await sleep(Math.max(0, startedAt + (i * 1000) / rate - sharedNow()))
    made.push(work())
  }
  await Promise.all(made)
}

/** Workspaces that all have more work than slots: endpoints, and events for each of them. */
const unequal = [
  { endpoints: 4, due: 500 },
  { endpoints: 8, due: 300 },
  { endpoints: 16, due: 200 },
  { endpoints: 40, due: 100 },
  { endpoints: 100, due: 60 },
]
const heldMs = 500
const evenMs = quick ? 3000 : 10_000

/** A run of workspaces that share slots; the receiver counts what each has in flight. */
function evenOn(engine: Engine): Contender {
  return async (setting) => {
    const { posthorn, close } = await openPosthorn(engine, setting)
    const { run, tenants } = JSON.parse(setting.data) as Task
    for (const [i, { endpoints, due }] of unequal.entries()) {
      const id = `w${i}`
      await posthorn.workspaces.create({ id })
      await posthorn.config.sync(id, {
        endpoints: Array.from({ length: endpoints }, (_, n) => ({
          name: `endpoint ${n}`,
          request: { url: `${tenants}/held/${heldMs}/${run}.${id}/${n}` },
          events: ['*'],
        })),
      })
      await sideBySide(due, 8, () => posthorn.events.create(id, { event_type: 'x', data: {} }))
    }
    return {
      async work() {
        await posthorn.start()
        await sleep(3000) // until endpoints have answered a first request
        const answer = await fetch(`${tenants}/average/${evenMs}`)
        await report(setting.url, run, await answer.json())
      },
      async close() {
        await posthorn.stop({ timeoutMs: 0 })
        await close()
      },
    }
  }
}

async function report(listener: string, run: string, found: unknown): Promise<void> {
  await fetch(`${listener}/${run}`, { method: 'POST', body: JSON.stringify({ found }) })
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) => [
    [engine, neighboursOn(engine)],
    [`${engine} even`, evenOn(engine)],
  ]),
)

async function main(): Promise<void> {
  const words = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const chosen = <Name extends string>(names: readonly Name[]): readonly Name[] => {
    const named = names.filter((name) => words.includes(name))
    return named.length > 0 ? named : names
  }
  const parts = chosen(['a', 'b', 'c', 'd', 'even'])

  const took = new Map<string, number[]>()
  const found = new Map<string, Record<string, number>>()
  const listener = await listenTo((path, body) => {
    const run = path.slice(1)
    const heard = JSON.parse(body) as { phase?: string; at?: number; found?: Record<string, number> } // as it was sent
    if (heard.found !== undefined) found.set(run, heard.found)
    if (heard.phase === undefined || heard.at === undefined) return
    const ms = sharedNow() - heard.at
    const all = took.get(`${run} ${heard.phase}`)
    if (all === undefined) took.set(`${run} ${heard.phase}`, [ms])
    else all.push(ms)
  })
  const tenants = await startTenants()
  const servers = await startServers()
  const missed: string[] = []
  /** Runs a contender, and answers under which name the listener heard of it. */
  const runOnce = async (name: string, beside: Case): Promise<string> => {
    const place = freshPlace(servers)
    const task: Task = { run: place.schema, tenants: tenants.base, beside }
    await runApart(name, { ...place, url: listener.base, events: 0, data: JSON.stringify(task) })
    await servers.clean()
    return place.schema
  }

  say(`shares: workspace B at ${perSecond} events a second for ${seconds} s, alone and beside workspace A`)
  say(machine())
  say()
  row([
    'engine',
    'endpoint of A',
    'endpoints',
    'due each',
    'runs',
    ...heads('p50'),
    ...heads('p99'),
    'max alone, ms',
    'beside',
  ])
  row(Array.from({ length: 13 }, (_, i) => (i < 2 ? '---' : '---:')))
  for (const engine of chosen(engines)) {
    for (const beside of cases.filter(({ kind }) => parts.includes(kind))) {
      const runs: { alone: Figures; beside: Figures }[] = []
      for (let i = 0; i < beside.rounds; i++) {
        const run = await runOnce(engine, beside)
        const of = (phase: string): Figures => figuresOf(took.get(`${run} ${phase}`) ?? [])
        runs.push({ alone: of('alone'), beside: of('beside') })
      }
      missed.push(...judge(engine, beside, runs))
    }
  }
  if (parts.includes('even')) {
    say()
    row(['engine', ...unequal.map(({ endpoints, due }) => `${endpoints} endpoints, ${due} due each`), 'furthest off'])
    row(['---', ...unequal.map(() => '---:'), '---:'])
    for (const engine of chosen(engines)) {
      const run = await runOnce(`${engine} even`, headline)
      const slots = unequal.map((_, i) => found.get(run)?.[`${run}.w${i}`] ?? 0)
      const mean = slots.reduce((sum, each) => sum + each, 0) / slots.length
      const off = Math.max(...slots.map((each) => Math.abs(each - mean) / mean))
      row([engine, ...slots.map((each) => each.toFixed(1)), `${(off * 100).toFixed(1)} %`])
      if (!(off <= mostUneven))
        missed.push(`${engine}: slots of workspaces are ${(off * 100).toFixed(0)} % off their mean`)
    }
  }
  await servers.stop()
  tenants.stop()
  listener.close()
  say()
  say(missed.length === 0 ? 'ok' : `missed: ${missed.join('; ')}`)
  process.exitCode = missed.length === 0 ? 0 : 1
}

interface Figures {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Of latencies; those that never arrived are infinite. */
function figuresOf(arrived: readonly number[]): Figures {
  const lost = Math.max(0, seconds * perSecond - arrived.length)
  const all = [...arrived, ...Array.from({ length: lost }, () => Infinity)]
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), max: Math.max(...all) }
}

/** Prints what runs came to, and answers which bounds they missed. */
function judge(engine: Engine, { kind, endpoints, due }: Case, runs: readonly { alone: Figures; beside: Figures }[]) {
  const of = (pick: (run: { alone: Figures; beside: Figures }) => number): number => median(runs.map(pick))
  const p50 = of((run) => run.beside.p50 / run.alone.p50)
  const p99 = of((run) => run.beside.p99 / run.alone.p99)
  const max = Math.max(...runs.map((run) => run.beside.max))
  row([
    engine,
    `${kind}: ${kinds[kind].says}`,
    String(endpoints),
    kind === 'd' ? `${Math.max(turningPerSecond, endpoints / 2)}/s` : String(due),
    String(runs.length),
    ...[of((run) => run.alone.p50), of((run) => run.beside.p50)].map((ms) => ms.toFixed(1)),
    p50.toFixed(2),
    ...[of((run) => run.alone.p99), of((run) => run.beside.p99)].map((ms) => ms.toFixed(1)),
    p99.toFixed(2),
    of((run) => run.alone.max).toFixed(0),
    max.toFixed(0),
  ])
  const what = `${engine}, ${kind} with ${endpoints} endpoints and ${due} due each`
  return [
    ...(p50 <= mostP50 ? [] : [`${what}: p50 ${p50.toFixed(1)} times that alone`]),
    ...(p99 <= mostP99 ? [] : [`${what}: p99 ${p99.toFixed(1)} times that alone`]),
    ...(max <= mostMs ? [] : [`${what}: one took ${max.toFixed(0)} ms`]),
  ]
}

function heads(figure: string): readonly string[] {
  return [`${figure} alone, ms`, 'beside', 'ratio']
}

function row(cells: readonly string[]): void {
  say(`| ${cells.join(' | ')} |`)
}

if (!isTenants() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
