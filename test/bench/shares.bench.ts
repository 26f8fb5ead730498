import {
  type Case,
  type Kind,
  type Task,
  kinds,
  maxMs,
  neighboursOn,
  perSecond,
  seconds,
  turningRate,
} from './beside.ts'
import { type ClaimTimes, claimsOn } from './claim-cost.ts'
import { type Contender, isRun, machine, median, quick, runApart, say } from './compare.ts'
import { type Engine, freshPlace } from './engines.ts'
import { type Slots, evenOn, unequal } from './even-slots.ts'
import { listenTo, quantile, sharedNow } from './listener.ts'
import { startServers } from './servers.ts'
import { isTenants, startTenants } from './tenants.ts'

// Workspace B has one instant endpoint and 20 events a second for 20 s: alone, then beside workspace A, in one process, so
// that each run is compared with itself. The endpoints of A are in a process of their own. Latency is from the call that
// publishes to the arrival, on one clock.
//
// How the time is spent: nine cases beside, the first and the last of them run three times, are 13 runs of 50 s for each engine, or
// 32 minutes; 200,000 due jobs take a minute more to publish; equal slots and the cost of claims take a minute an engine. A case whose
// single run misses a bound is run twice more, and judged by the medians, as all cases of more than one run are.
// BENCH_FULL=yes runs all cases three times, in some two hours. Words choose engines, parts and numbers of endpoints: a, b, c, d,
// even, claim, 16, 20, 1000, as in `npm run bench -- shares redis a d 1000 even`.

const engines = ['memory', 'postgres', 'redis'] as const satisfies readonly Engine[]
const parts = ['a', 'b', 'c', 'd', 'even', 'claim'] as const
const sizes = ['16', '20', '1000'] as const
const full = process.env['BENCH_FULL'] === 'yes'
const maxP50 = 2
const maxP99 = 3
const maxUneven = 0.1
const maxClaimCost = 1.5

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
      { kind: 'd', endpoints: 1000, due: 0, rounds: headline.rounds },
    ]

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) => [
    [engine, neighboursOn(engine)],
    [`${engine} even`, evenOn(engine)],
    [`${engine} claim`, claimsOn(engine)],
  ]),
)

/** What runs are made with, and what was heard of them. */
interface Rig {
  /** Runs a contender in a process of its own, and answers under which name the listener heard of it. */
  runOnce(name: string, beside?: Case): Promise<string>
  /** Latencies of B, in order of arrival. */
  took(run: string, phase: 'alone' | 'beside'): readonly number[]
  /** What a run reported. */
  found(run: string): object
  stop(): Promise<void>
}

async function makeRig(): Promise<Rig> {
  const took = new Map<string, number[]>()
  const found = new Map<string, object>()
  const listener = await listenTo((path, body) => {
    const run = path.slice(1)
    const heard = JSON.parse(body) as { phase?: string; at?: number; found?: object } // as it was sent
    if (heard.found !== undefined) found.set(run, heard.found)
    if (heard.phase === undefined || heard.at === undefined) return
    const ms = sharedNow() - heard.at
    const all = took.get(`${run} ${heard.phase}`)
    if (all === undefined) took.set(`${run} ${heard.phase}`, [ms])
    else all.push(ms)
  })
  const tenants = await startTenants()
  const servers = await startServers()
  return {
    async runOnce(name, beside = headline) {
      const place = freshPlace(servers)
      const task: Task = { run: place.schema, tenants: tenants.base, beside }
      await runApart(name, { ...place, url: listener.base, events: 0, data: JSON.stringify(task) })
      await servers.clean()
      return place.schema
    },
    took: (run, phase) => took.get(`${run} ${phase}`) ?? [],
    found: (run) => found.get(run) ?? {},
    async stop() {
      await servers.stop()
      tenants.stop()
      listener.close()
    },
  }
}

/** Those of these names that stand on the command line; all when none does. */
function chosen<Name extends string>(names: readonly Name[]): readonly Name[] {
  const named = names.filter((name) => process.argv.slice(2).includes(name))
  return named.length > 0 ? named : names
}

function isChosenSize(endpoints: number): boolean {
  return chosen(sizes).some((size) => Number(size) === endpoints)
}

/** Measures B alone and beside A; answers which bounds were missed. */
async function compareLatencies(rig: Rig, kindsChosen: readonly Kind[]): Promise<readonly string[]> {
  say(
    `workspace B at ${perSecond} events a second for ${seconds} s, alone and beside workspace A; milliseconds, medians of runs`,
  )
  say()
  heading(['engine', 'an endpoint of A', 'endpoints', 'due each', 'runs', ...['p50', 'p99', 'max'].flatMap(pairOf)], 2)
  const missed: string[] = []
  for (const engine of chosen(engines)) {
    for (const beside of cases.filter(({ kind, endpoints }) => kindsChosen.includes(kind) && isChosenSize(endpoints))) {
      const runs: Run[] = []
      let { rounds } = beside
      let judged: Judged
      do {
        const run = await rig.runOnce(engine, beside)
        runs.push({ alone: figuresOf(rig.took(run, 'alone')), beside: figuresOf(rig.took(run, 'beside')) })
        judged = judge(engine, beside, runs)
        if (judged.missed.length > 0) rounds = headline.rounds
      } while (runs.length < rounds)
      row(judged.cells)
      missed.push(...judged.missed)
    }
  }
  say()
  return missed
}

function pairOf(figure: string): readonly string[] {
  return [`${figure} alone`, 'beside', ...(figure === 'max' ? [] : ['ratio'])]
}

/** Measures slots of workspaces that all have more work than slots; answers which bounds were missed. */
async function compareSlots(rig: Rig): Promise<readonly string[]> {
  say('slots of workspaces that all have more work than slots')
  say()
  heading(['engine', ...unequal.map(({ endpoints, due }) => `${endpoints} endpoints, ${due} due each`), 'furthest off'])
  const missed: string[] = []
  for (const engine of chosen(engines)) {
    const run = await rig.runOnce(`${engine} even`)
    const known = rig.found(run) as Slots // that is what it reports
    const slots = unequal.map((_, i) => known[`${run}.w${i}`] ?? 0)
    const mean = slots.reduce((sum, each) => sum + each, 0) / slots.length
    const off = Math.max(...slots.map((each) => Math.abs(each - mean) / mean))
    row([engine, ...slots.map((each) => each.toFixed(1)), `${(off * 100).toFixed(1)} %`])
    if (!(off <= maxUneven)) missed.push(`${engine}: slots of a workspace are ${(off * 100).toFixed(0)} % off the mean`)
  }
  say()
  return missed
}

/** Measures claims beside much work; answers which bounds were missed. */
async function compareClaims(rig: Rig): Promise<readonly string[]> {
  say('a claim of 20 jobs, milliseconds')
  say()
  heading(['engine', 'beside', 'nothing else', 'beside that', 'ratio'], 2)
  const missed: string[] = []
  for (const engine of chosen(engines)) {
    const times = rig.found(await rig.runOnce(`${engine} claim`)) as ClaimTimes // that is what it reports
    for (const [shape, { alone, beside }] of Object.entries(times)) {
      const ratio = beside / alone
      row([engine, shape, alone.toFixed(2), beside.toFixed(2), ratio.toFixed(2)])
      if (!(ratio <= maxClaimCost)) missed.push(`${engine}: a claim beside ${shape} costs ${ratio.toFixed(1)} times`)
    }
  }
  say()
  return missed
}

async function main(): Promise<void> {
  const rig = await makeRig()
  const kindsChosen = chosen(parts).filter((part) => part in kinds) as Kind[] // just looked at
  say('shares')
  say(machine())
  say()
  const missed: string[] = []
  if (kindsChosen.length > 0) missed.push(...(await compareLatencies(rig, kindsChosen)))
  if (chosen(parts).includes('even')) missed.push(...(await compareSlots(rig)))
  if (chosen(parts).includes('claim')) missed.push(...(await compareClaims(rig)))
  await rig.stop()
  say(missed.length === 0 ? 'ok' : `missed: ${missed.join('; ')}`)
  process.exitCode = missed.length === 0 ? 0 : 1
}

interface Figures {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

interface Run {
  readonly alone: Figures
  readonly beside: Figures
}

/** Of latencies; those that never arrived are infinite. */
function figuresOf(arrived: readonly number[]): Figures {
  const lost = Math.max(0, seconds * perSecond - arrived.length)
  const all = [...arrived, ...Array.from({ length: lost }, () => Infinity)]
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), max: Math.max(...all) }
}

/** What runs of a case came to. */
interface Judged {
  readonly cells: readonly string[]
  /** The bounds that were missed. */
  readonly missed: readonly string[]
}

function judge(engine: Engine, { kind, endpoints, due }: Case, runs: readonly Run[]): Judged {
  const of = (pick: (run: Run) => number): number => median(runs.map(pick))
  const p50 = of((run) => run.beside.p50 / run.alone.p50)
  const p99 = of((run) => run.beside.p99 / run.alone.p99)
  const max = Math.max(...runs.map((run) => run.beside.max))
  const cells = [
    engine,
    `${kind}: ${kinds[kind].says}`,
    String(endpoints),
    kind === 'd' ? `${turningRate(endpoints)} a second` : String(due),
    String(runs.length),
    ...[of((run) => run.alone.p50), of((run) => run.beside.p50)].map((ms) => ms.toFixed(1)),
    p50.toFixed(2),
    ...[of((run) => run.alone.p99), of((run) => run.beside.p99)].map((ms) => ms.toFixed(1)),
    p99.toFixed(2),
    of((run) => run.alone.max).toFixed(0),
    max.toFixed(0),
  ]
  const what = `${engine}, ${kind} with ${endpoints} endpoints and ${due} due each`
  const missed = [
    ...(p50 <= maxP50 ? [] : [`${what}: p50 ${p50.toFixed(1)} times that alone`]),
    ...(p99 <= maxP99 ? [] : [`${what}: p99 ${p99.toFixed(1)} times that alone`]),
    ...(max <= maxMs ? [] : [`${what}: one took ${max.toFixed(0)} ms`]),
  ]
  return { cells, missed }
}

/** A head of columns, the first `left` of which hold text. */
function heading(cells: readonly string[], left = 1): void {
  row(cells)
  row(cells.map((_, i) => (i < left ? '---' : '---:')))
}

function row(cells: readonly string[]): void {
  say(`| ${cells.join(' | ')} |`)
}

if (!isTenants() && !(await isRun(contenders))) {
  await main()
  process.exit()
}
