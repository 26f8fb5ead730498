import { memory } from '../../../adapters/memory/index.ts'
import type { Queue } from '../../contracts/queue.ts'
import type { Storage, StoredAttempt } from '../../contracts/storage.ts'
import { portablePlatform } from '../../portable.ts'
import { makePosthorn } from '../../posthorn.ts'
import type { Endpoint } from '../../schema/endpoint.ts'
import type { Event } from '../../schema/event.ts'
import { fakeClock } from '../fake-clock.ts'
import { random, type Random } from '../random.ts'
import { type History, type SeenSend, violations } from './history.ts'
import { type Plan, type SimulatedProcess, simulatedProcess, type World } from './process.ts'

export interface Simulation {
  /** The same seed gives the same run. */
  readonly seed: number
  /** Processes that publish and deliver. Default 2. */
  readonly workers?: number
  /** Default 10. */
  readonly events?: number
  /** A fresh storage for each run. Default: memory. */
  readonly storage?: () => Storage
  /** A fresh queue of another engine for each run. Default: the storage's own. */
  readonly queue?: () => Queue
  /** Puts itself around a fresh storage, to see whether a broken one is caught. */
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

/**
 * Runs processes over one storage through publishing, failing receivers, deaths, lost answers and clocks that differ by
 * five minutes, in virtual time; then lets them come to rest and checks the history: nothing lost, nothing doubled,
 * limits kept, pauses kept.
 * @throws SimulationError
 */
export async function simulate(simulation: Simulation): Promise<SimulationReport> {
  const events = simulation.events ?? 10
  const run = await once(simulation, events)
  if (run.broken.length === 0) return run.report
  // The same seed with fewer events is a shorter history, and often breaks the same way.
  for (let fewer = 1; fewer < events; fewer++) {
    const shorter = await once(simulation, fewer)
    if (shorter.broken.length > 0) throw new SimulationError(simulation.seed, fewer, shorter.broken, shorter.log)
  }
  throw new SimulationError(simulation.seed, events, run.broken, run.log)
}

async function once(simulation: Simulation, events: number) {
  const dice = random(simulation.seed)
  const clock = fakeClock()
  const fresh = simulation.storage?.() ?? memory()
  const storage = simulation.around?.(fresh) ?? fresh
  const endpoints = await makeEndpoints(fresh, dice)
  const log: string[] = []
  const sends: SeenSend[] = []
  let stormy = true
  let faults = 0

  const world: World = {
    clock,
    storage,
    queue: simulation.queue?.(),
    sends,
    note: (text) => void log.push(`${((clock.now() - start) / 1000).toFixed(1)}s ${text}`),
    fault() {
      if (!stormy || dice.below(100) >= faultPercent) return null
      faults++
      return dice.of(['before', 'after'])
    },
    plan: (endpointId) => planOf(endpointId, dice, stormy),
  }
  const start = clock.now()

  const workers = simulation.workers ?? 2
  const processes: SimulatedProcess[] = []
  let born = 0
  const spawn = () => {
    const process = simulatedProcess(`process ${++born}`, world, dice.of([0, skewMs, -skewMs]))
    processes.push(process)
    world.note(`${process.name} starts`)
    startUntilUp(process, world)
  }
  for (let i = 0; i < workers; i++) spawn()

  const accepted: Event[] = []
  let deaths = 0
  const kill = (process: SimulatedProcess) => {
    process.kill()
    deaths++
    world.note(`${process.name} dies`)
    processes.splice(processes.indexOf(process), 1)
  }
  for (let n = 1; n <= events; n++) {
    await clock.advance(dice.below(3000))
    const process = dice.of(processes)
    void process.posthorn.events.create('default', { event_type: 'simulated', data: { n } }).then(
      (event) => {
        world.note(`${process.name} published ${event.id}`)
        accepted.push(event)
      },
      () => world.note(`${process.name} could not publish event ${n}`),
    )
    if (dice.below(4) === 0 || (n === events && deaths === 0)) {
      kill(dice.of(processes))
      if (processes.length === 0 || dice.below(2) === 0) spawn()
    }
    while (processes.length < workers && dice.below(3) === 0) spawn()
  }
  if (processes.length === 0) spawn()

  stormy = false
  for (let step = 0; step < calmSteps; step++) {
    await clock.advance(calmStepMs)
    const open = await fresh.attempts.overdue({ before: Number.MAX_SAFE_INTEGER, after: null, limit: 1 })
    if (open.length === 0) break
  }
  for (const process of processes) process.kill()
  const attempts = await attemptsOf(fresh, accepted)
  for (const send of sends)
    world.note(
      `(${((send.startedAt - start) / 1000).toFixed(1)}s) ${send.process} sent ${send.attemptId} to ${send.endpointId}: ${send.status ?? 'no answer'}`,
    )
  await fresh.close()

  const history: History = { endpoints, accepted, attempts, sends, log }
  const report: SimulationReport = { accepted: accepted.length, sends: sends.length, deaths, faults }
  return { broken: violations(history), log, report }
}

/** A process whose storage does not answer at its start tries again, as its supervisor would have it do. */
function startUntilUp(process: SimulatedProcess, world: World): void {
  process.posthorn.start().catch(async () => {
    await world.clock.sleep(1000)
    if (process.alive()) startUntilUp(process, world)
  })
}

/** Three endpoints that want everything: one steady, one with a long chain, one limited. */
async function makeEndpoints(storage: Storage, dice: Random): Promise<readonly Endpoint[]> {
  const posthorn = makePosthorn(portablePlatform)({
    storage,
    http: { send: () => Promise.reject(new Error('not used')) },
  })
  const definitions = [
    { id: 'steady', attempts: [0, 5, 20, 40], rate_limit: null },
    { id: 'flaky', attempts: [0, 1, 2, 4, 8, 16], rate_limit: null },
    { id: 'limited', attempts: [0, 5, 20], rate_limit: { quota: 1 + dice.below(3), period: 1 + dice.below(5) } },
  ]
  const made: Endpoint[] = []
  for (const { id, attempts, rate_limit } of definitions) {
    const request = { url: `http://${id}.test/`, headers: { 'x-endpoint': id }, timeout: 10_000 }
    made.push(
      await posthorn.endpoints.create('default', {
        id,
        request,
        events: ['*'],
        retry: { config: { attempts } },
        rate_limit,
      }),
    )
  }
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
  const good = !stormy ? 80 : endpointId === 'flaky' ? 30 : 70
  if (roll < good) return answer(dice.of([200, 202, 204]))
  if (roll < good + 8) return answer(dice.of(['hang', 'reset']))
  if (roll < good + 13) return answer(dice.of([429, 503]), 5 + dice.below(40))
  // Rarely, since it ends all there is to see of an endpoint.
  return answer(roll === 99 && endpointId === 'flaky' && dice.below(4) === 0 ? 410 : dice.of([500, 502, 404]))
}

async function attemptsOf(
  storage: Storage,
  events: readonly { readonly id: string }[],
): Promise<readonly StoredAttempt[]> {
  const pages = await Promise.all(
    events.map(({ id }) =>
      storage.attempts.list('default', {
        event_id: id,
        limit: 1000,
        page: null,
        after: null,
        before: null,
        descending: false,
      }),
    ),
  )
  return pages.flatMap(({ rows }) => rows)
}
