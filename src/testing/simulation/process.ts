import type { Clock } from '../../contracts/clock.ts'
import type { HttpClient, Reply } from '../../contracts/http-client.ts'
import type { Logger } from '../../contracts/observer.ts'
import type { Queue } from '../../contracts/queue.ts'
import type { Storage } from '../../contracts/storage.ts'
import { PosthornError } from '../../errors.ts'
import { portablePlatform } from '../../portable.ts'
import { makePosthorn } from '../../posthorn.ts'
import type { Posthorn } from '../../surface/posthorn.ts'
import type { FakeClock } from '../fake-clock.ts'
import { injectedFault } from '../faulty.ts'
import { intercepted } from '../intercept.ts'
import type { SeenSend } from './history.ts'

/** What a receiver is going to do with a request. */
export interface Plan {
  readonly status: number | 'hang' | 'reset'
  readonly afterMs: number
  readonly retryAfterSeconds: number | null
}

export interface World {
  readonly clock: FakeClock
  readonly storage: Storage
  readonly queue: Queue | undefined
  /** Ids and the spread of retries come from it: rows that are due at the same time are taken in the order of their ids. */
  randomBytes(length: number): Uint8Array
  readonly sends: SeenSend[]
  /** Whether this call fails, and when: rolled for each call of each process. */
  fault(): 'before' | 'after' | null
  plan(endpointId: string): Plan
  note(text: string): void
}

/** A simulated operating-system process. After `kill` nothing of it goes on: no call returns, no timer fires. */
export interface SimulatedProcess {
  readonly name: string
  readonly posthorn: Posthorn
  /** Sets the process's wall clock, forward or back. */
  setClock(ms: number): void
  kill(): void
  readonly alive: () => boolean
}

const never = new Promise<never>(() => {})
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Nobody verifies: the web's cryptography computes on another thread, for which virtual time does not wait. */
const hmac = async (_hash: string, key: Uint8Array): Promise<Uint8Array> => key

/** @param skewMs how far the process's own clock is from the engine's. */
export function simulatedProcess(name: string, world: World, skewMs: number): SimulatedProcess {
  let alive = true
  let wallMs = skewMs

  const around = async (_name: string, call: () => Promise<unknown>): Promise<unknown> => {
    if (!alive) return await never
    const fault = world.fault()
    if (fault === 'before') throw new PosthornError('unavailable', injectedFault)
    const answer = await call()
    if (!alive) return await never
    if (fault === 'after') throw new PosthornError('unavailable', injectedFault)
    return answer
  }

  const clock: Clock = {
    system: true,
    now: () => world.clock.now() + wallMs,
    elapsed: () => world.clock.elapsed(),
    async sleep(ms, signal) {
      if (alive) await world.clock.sleep(ms, signal)
      if (!alive) await never
    },
  }

  const http: HttpClient = {
    async send(request, { timeoutMs, signal }): Promise<Reply> {
      if (!alive) return await never
      const endpointId = request.headers['x-endpoint']!
      const plan = world.plan(endpointId)
      const startedAt = world.clock.now()
      const send: SeenSend = {
        process: name,
        attemptId: request.headers['webhook-delivery-id']!,
        endpointId,
        startedAt,
        endedAt: Infinity,
        status: null,
        pauseUntil: null,
      }
      world.sends.push(send)
      await world.clock.sleep(plan.status === 'hang' ? timeoutMs : plan.afterMs, signal)
      if (!alive) return await never
      send.endedAt = world.clock.now()
      if (signal.aborted) return { kind: 'aborted' }
      if (plan.status === 'hang') return { kind: 'timeout', message: 'timed out' }
      if (plan.status === 'reset') return { kind: 'error', message: 'reset', unreachable: false }
      send.status = plan.status
      if (plan.retryAfterSeconds !== null) send.pauseUntil = send.endedAt + plan.retryAfterSeconds * 1000
      const headers = plan.retryAfterSeconds === null ? {} : { 'retry-after': String(plan.retryAfterSeconds) }
      return { kind: 'response', status: plan.status, headers, body: '', ended: true }
    },
  }

  const storage = intercepted(world.storage, around)
  const posthorn = makePosthorn({ ...portablePlatform, batches: true, randomBytes: world.randomBytes, hmac })({
    // Several processes share it, as they share an engine.
    storage: { ...storage, inProcess: false, limiter: world.storage.limiter!, time: async () => world.clock.now() },
    ...(world.queue !== undefined && { queue: intercepted(world.queue, around) }),
    clock,
    http,
    logger: silent,
    deliver: { perEndpoint: 4, concurrency: 8 },
  })

  return {
    name,
    posthorn,
    alive: () => alive,
    setClock(ms) {
      wallMs += ms
    },
    kill() {
      alive = false
      for (const send of world.sends) {
        if (send.process === name) send.endedAt = Math.min(send.endedAt, world.clock.now())
      }
    },
  }
}
