import { memory } from '../../../adapters/memory/index.ts'
import type { Queue } from '../../contracts/queue.ts'
import type { Storage } from '../../contracts/storage.ts'
import type { StoredAttempt } from '../../contracts/storage/attempts.ts'
import { portablePlatform } from '../../portable.ts'
import { makePosthorn } from '../../posthorn.ts'
import { lazy } from '../../runtime/lazy.ts'
import type { EventInput } from '../../schema/catalogue.ts'
import type { Posthorn } from '../../surface/posthorn.ts'
import { fakeClock } from '../fake-clock.ts'
import { random, type Random } from '../random.ts'
import { type AcceptedEvent, type History, type SeenSend, violations } from './history.ts'
import { type Plan, type SimulatedProcess, simulatedProcess, type World } from './process.ts'
import { crowd, unfairness } from './shares.ts'

export interface Simulation {
  /** The same seed gives the same run, where the storage does the same in each: nothing by real time, equal rows in the same order. */
  readonly seed: number
  /** Processes that publish and deliver. Default 2. */
  readonly workers?: number
  /** Default 10. */
  readonly events?: number
  /** A fresh storage for each run. Default: memory. */
  readonly storage?: () => Storage
  /** A fresh queue of another engine for each run. Default: the storage's own. */
  readonly queue?: () => Queue
  /** Wraps a fresh storage, to see whether a broken storage is caught. */
  readonly around?: (storage: Storage) => Storage
}

export interface SimulationReport {
  readonly accepted: number
  readonly sends: number
  readonly deaths: number
  readonly faults: number
}

/** A run that broke a promise: which, by what seed, and the shortest history found that does. */
export class SimulationError extends Error {
  readonly seed: number
  readonly events: number
  readonly violations: readonly string[]

  constructor(seed: number, events: number, broken: readonly string[], log: readonly string[]) {
    super(`seed ${seed} with ${events} events:\n  ${broken.slice(0, 10).join('\n  ')}\nhistory:\n  ${log.join('\n  ')}`)
    this.name = 'SimulationError'
    this.seed = seed
    this.events = events
    this.violations = broken
  }
}

const faultPercent = 4
const calmStepMs = 10_000
const calmSteps = 60
const skewMs = 300_000
/** By how much a wall clock is set while the process works: by a second, an hour, a day, forward or back. */
const clockSteps = [1000, -1000, 3_600_000, -3_600_000, 86_400_000, -86_400_000] as const
const workspaces = ['default', 'second', 'third'] as const
/** In one run of ten a fourth workspace sends each event to so many endpoints that its events are stored apart from others. */
const wideEvery = 10
const wideEndpoints = 34

/**
 * Runs processes over one storage through publishing in several workspaces, by call and by async source, failing receivers,
 * deaths, lost answers, clocks that differ by five minutes and clocks that are set, in virtual time; then lets them come
 * to rest and checks the history: nothing lost, nothing doubled, nothing early, no limit exceeded, no pause broken. In the end a fresh
 * process gets a crowd of slow deliveries of one workspace: the others may not wait for them.
 * @throws SimulationError
 * @example await simulate({ seed: 1, workers: 3, events: 20, storage: () => myStorage() })
 */
export async function simulate(simulation: Simulation): Promise<SimulationReport> {
  await warmUp()
  const events = simulation.events ?? 10
  const run = await once(simulation, events)
  if (run.broken.length === 0) return run.report
  // The same seed with fewer events is a shorter history, and often breaks the same promise.
  const kind = kindOf(run.broken[0]!)
  for (let fewer = 1; fewer < events; fewer++) {
    const shorter = await once(simulation, fewer)
    if (shorter.broken.some((each) => kindOf(each) === kind))
      throw new SimulationError(simulation.seed, fewer, shorter.broken, shorter.log)
  }
  throw new SimulationError(simulation.seed, events, run.broken, run.log)
}

/** Which promise was broken: what comes before the colon. */
function kindOf(violation: string): string {
  return violation.slice(0, violation.indexOf(':'))
}

/** Loads what is loaded on demand: that takes real time, for which virtual time does not wait. */
const warmUp = lazy(async () => {
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const posthorn = makePosthorn({ ...portablePlatform, batches: true })({ storage: memory(), logger })
  await posthorn.start()
  await posthorn.events.get('default', 'unknown').catch(() => {})
  await posthorn.gateway.fetch(new Request('http://gateway.test/unknown', { method: 'POST' }))
  await posthorn.stop()
  return posthorn
})

async function once(simulation: Simulation, events: number) {
  const dice = random(simulation.seed)
  const clock = fakeClock()
  const fresh = simulation.storage?.() ?? memory()
  const storage = simulation.around?.(fresh) ?? fresh
  const among = simulation.seed % wideEvery === 0 ? [...workspaces, 'wide'] : workspaces
  const log: string[] = []
  const sends: SeenSend[] = []
  const bytes = random(simulation.seed) // not the dice: another id changes nothing but ids
  let stormy = true
  let faults = 0

  const world: World = {
    clock,
    storage,
    queue: simulation.queue?.(),
    randomBytes: (length) => Uint8Array.from({ length }, () => bytes.below(256)),
    sends,
    note: (text) => void log.push(`${((clock.now() - start) / 1000).toFixed(1)}s ${text}`),
    fault() {
      if (!stormy || dice.below(100) >= faultPercent) return null
      faults++
      return dice.of(['before', 'after'])
    },
    plan: (endpointId) => crowd.planOf(endpointId) ?? planOf(endpointId, dice, stormy),
  }
  const start = clock.now()
  const endpoints = await makeEndpoints(world, fresh, dice, among)

  const { published, processes, deaths } = await storm(world, dice, { workers: simulation.workers ?? 2, events, among })
  stormy = false
  for (let step = 0; step < calmSteps; step++) {
    await clock.advance(calmStepMs)
    const open = await fresh.attempts.overdue({ before: Number.MAX_SAFE_INTEGER, after: null, limit: 1 })
    if (open.length === 0 && (await fresh.inbox!.size()) === 0) break
  }
  for (const process of processes) process.kill()
  const accepted = await Promise.all(
    published.map(async ({ id, workspace }): Promise<AcceptedEvent> => {
      return { id, workspace, ingested_at: (await fresh.events.get(workspace, id))?.ingested_at ?? null }
    }),
  )
  const attempts = await attemptsOf(fresh, accepted)
  const seen = sends.length
  for (const send of sends)
    world.note(
      `(${((send.startedAt - start) / 1000).toFixed(1)}s) ${send.process} sent ${send.attemptId} to ${send.endpointId}: ${send.status ?? 'no answer'}`,
    )
  const unfair = await unfairness(world, () => simulatedProcess('a fresh process', world, 0))
  await fresh.close()

  const history: History = { endpoints, accepted, attempts, sends: sends.slice(0, seen), log }
  const report: SimulationReport = { accepted: accepted.length, sends: seen, deaths, faults }
  return { broken: [...violations(history), ...unfair], log, report }
}

interface Storm {
  readonly workers: number
  readonly events: number
  /** The workspaces in which it publishes. */
  readonly among: readonly string[]
}

/** Publishes while processes start and die and clocks are set. Answers what was accepted, and the processes that live. */
async function storm(world: World, dice: Random, { workers, events, among }: Storm) {
  const { clock } = world
  const processes: SimulatedProcess[] = []
  let born = 0
  const spawn = () => {
    const process = simulatedProcess(`process ${++born}`, world, dice.of([0, skewMs, -skewMs]))
    processes.push(process)
    world.note(`${process.name} starts`)
    startUntilUp(process, world)
  }
  for (let i = 0; i < workers; i++) spawn()

  // It publishes and does not deliver: what it accepts is taken from the inbox.
  const gateway = simulatedProcess('the gateway', world, 0)
  const published: { readonly id: string; readonly workspace: string }[] = []
  let deaths = 0
  const kill = (process: SimulatedProcess) => {
    process.kill()
    deaths++
    world.note(`${process.name} dies`)
    processes.splice(processes.indexOf(process), 1)
  }
  const setClock = (process: SimulatedProcess) => {
    const ms = dice.of(clockSteps)
    process.setClock(ms)
    world.note(`the clock of ${process.name} is set by ${ms / 1000} s`)
  }
  for (let n = 1; n <= events; n++) {
    await clock.advance(dice.below(3000))
    const workspace = dice.of(among)
    const isLater = dice.below(3) === 0
    const process = isLater && dice.below(3) > 0 ? gateway : dice.of(processes)
    void (isLater ? accept : publish)(process.posthorn, workspace, { event_type: 'simulated', data: { n } }).then(
      (id) => {
        world.note(`${process.name} ${isLater ? 'accepted' : 'published'} ${id} in ${workspace}`)
        published.push({ id, workspace })
      },
      () => world.note(`${process.name} could not publish event ${n}`),
    )
    if (dice.below(6) === 0) setClock(dice.of(processes))
    if (dice.below(4) === 0 || (n === events && deaths === 0)) {
      kill(dice.of(processes))
      if (processes.length === 0 || dice.below(2) === 0) spawn()
    }
    while (processes.length < workers && dice.below(3) === 0) spawn()
  }
  if (processes.length === 0) spawn()
  return { published, processes: [gateway, ...processes], deaths }
}

async function publish(posthorn: Posthorn, workspace: string, input: EventInput): Promise<string> {
  return (await posthorn.events.create(workspace, input)).id
}

/** Hands an event to an async source: it is stored later. */
async function accept(posthorn: Posthorn, workspace: string, input: EventInput): Promise<string> {
  const request = new Request(`http://gateway.test/${workspace}`, { method: 'POST', body: JSON.stringify(input) })
  const answer = await posthorn.gateway.fetch(request)
  const id = answer.headers.get('webhook-event-id')
  if (!answer.ok || id === null) throw new Error(`the gateway answered ${answer.status}`)
  return id
}

/** Starts a process. While storage does not answer it tries again, as a supervisor would do. */
function startUntilUp(process: SimulatedProcess, world: World): void {
  process.posthorn.start().catch(async () => {
    await world.clock.sleep(1000)
    if (process.alive()) startUntilUp(process, world)
  })
}

/**
 * In each workspace an async source, and an endpoint that wants everything: steady, with a long chain of tries, or limited; the
 * first workspace has all three, and `wide` very many.
 */
async function makeEndpoints(
  { clock, randomBytes }: World,
  storage: Storage,
  dice: Random,
  among: readonly string[],
): Promise<History['endpoints']> {
  // By the clock of the run: events go to endpoints in the order in which these were made.
  const posthorn = makePosthorn({ ...portablePlatform, randomBytes })({
    storage,
    clock,
    http: { send: () => Promise.reject(new Error('not used')) },
  })
  const limit = () => ({ quota: 1 + dice.below(3), period: 1 + dice.below(5) })
  const definitions = [
    { workspace: 'default', id: 'steady', attempts: [0, 5, 20, 40], rate_limit: null },
    { workspace: 'default', id: 'flaky', attempts: [0, 1, 2, 4, 8, 16], rate_limit: null },
    { workspace: 'default', id: 'limited', attempts: [0, 5, 20], rate_limit: limit() },
    { workspace: 'second', id: 'flaky2', attempts: [0, 1, 2, 4, 8, 16], rate_limit: null },
    { workspace: 'third', id: 'limited3', attempts: [0, 5, 20], rate_limit: limit() },
    ...Array.from({ length: wideEndpoints }, (_, n) => {
      return { workspace: 'wide', id: `wide${n}`, attempts: [0, 5], rate_limit: null }
    }),
  ].filter(({ workspace }) => among.includes(workspace))
  for (const id of among) {
    if (id !== 'default') await posthorn.workspaces.create({ id })
    await posthorn.sources.create(id, { async: true, config: { http: { path: `/${id}` } } })
  }
  const made: History['endpoints'][number][] = []
  for (const { workspace, id, attempts, rate_limit } of definitions) {
    const request = { url: `http://${id}.test/`, headers: { 'x-endpoint': id }, timeout: 10_000 }
    const input = { id, request, events: ['simulated'], retry: { config: { attempts } }, rate_limit }
    made.push({ ...(await posthorn.endpoints.create(workspace, input)), workspace })
  }
  await crowd.make(posthorn, workspaces)
  return made
}

function planOf(endpointId: string, dice: Random, stormy: boolean): Plan {
  const afterMs = 1 + dice.below(2000)
  const answer = (status: Plan['status'], retryAfterSeconds: number | null = null): Plan => ({
    status,
    afterMs,
    retryAfterSeconds,
  })
  const roll = dice.below(100)
  const good = !stormy ? 80 : endpointId.startsWith('flaky') ? 30 : 70
  if (roll < good) return answer(dice.of([200, 202, 204]))
  if (roll < good + 8) return answer(dice.of(['hang', 'reset']))
  if (roll < good + 13) return answer(dice.of([429, 503]), 5 + dice.below(40))
  // Rarely, since after that the endpoint is of no more use.
  return answer(roll === 99 && endpointId.startsWith('flaky') && dice.below(4) === 0 ? 410 : dice.of([500, 502, 404]))
}

async function attemptsOf(storage: Storage, events: readonly AcceptedEvent[]): Promise<readonly StoredAttempt[]> {
  const query = { limit: 1000, page: null, after: null, before: null, descending: false }
  const pages = await Promise.all(
    events.map(({ id, workspace }) => storage.attempts.list(workspace, { ...query, event_id: id })),
  )
  return pages.flatMap(({ rows }) => rows)
}
