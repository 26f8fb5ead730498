import type { Context } from '../context.ts'
import type { Grant } from '../contracts/limiter.ts'
import { setAside } from './paused-endpoints.ts'
import type { Hold } from './holds.ts'
import type { ReadyJob } from './ready-job.ts'

/** More endpoints than this are not remembered to have no limit. */
const maxUnlimited = 10_000

/** What the limiter says about jobs: `granted` may be sent now, `refused` have to wait. */
export interface LimitedJobs {
  readonly granted: readonly ReadyJob[]
  readonly refused: readonly Hold[]
}

/** A question to the limiter: `want` grants for an endpoint. `limit`: `quota` requests each `period` seconds. */
interface Question {
  readonly key: string
  readonly limit: { quota: number; period: number }
  want: number
}

/**
 * The rate limits of endpoints. While jobs of an endpoint are undecided, that is, the limiter has not answered for them,
 * no other job of the endpoint is claimed. So the order of deliveries holds. An endpoint that is known to have no limit
 * need not wait.
 */
export class RateLimits {
  readonly #ctx: Context
  readonly #complain: (message: string, cause: unknown) => void
  /** Endpoints that had no limit when a job of theirs was last decided. */
  readonly #unlimited = new Set<string>()
  /** Undecided jobs, by endpoint. */
  readonly #undecided = new Map<string, number>()
  #someWereLeftOut = false

  /** @param complain logs that the limiter does not answer. Until it does, deliveries are not limited. */
  constructor(ctx: Context, complain: (message: string, cause: unknown) => void) {
    this.#ctx = ctx
    this.#complain = complain
  }

  /** Whether an endpoint is known to have no limit. */
  isUnlimited(group: string): boolean {
    return this.#unlimited.has(group)
  }

  /** Endpoints with undecided jobs. A claim leaves them out. */
  undecided(): Iterable<string> {
    this.#someWereLeftOut ||= this.#undecided.size > 0
    return this.#undecided.keys()
  }

  /** Jobs are undecided from here until `markDecided`. */
  markUndecided(holds: readonly Hold[]): void {
    for (const { claim } of holds) {
      if (this.#unlimited.has(claim.group)) continue
      this.#undecided.set(claim.group, (this.#undecided.get(claim.group) ?? 0) + 1)
    }
  }

  /** Answers whether a claim has left out endpoints meanwhile that may be claimed now. */
  markDecided(holds: readonly Hold[]): boolean {
    for (const { claim } of holds) {
      const count = this.#undecided.get(claim.group)
      if (count === 1) this.#undecided.delete(claim.group)
      else if (count !== undefined) this.#undecided.set(claim.group, count - 1)
    }
    if (!this.#someWereLeftOut || this.#undecided.size > 0) return false
    this.#someWereLeftOut = false
    return true
  }

  /** Refuses the jobs of paused endpoints, and of others those that the limiter refuses. */
  async take(jobs: readonly ReadyJob[]): Promise<LimitedJobs> {
    const { passed, held } = await setAside(this.#ctx, jobs)
    const { granted, refused } = await this.#limited(passed)
    return { granted, refused: held.length === 0 ? refused : [...refused, ...held] }
  }

  /** Asks the limiter, once for all jobs of an endpoint. An endpoint with refused jobs is paused until they may be sent. */
  async #limited(jobs: readonly ReadyJob[]): Promise<LimitedJobs> {
    const questions = this.#questions(jobs)
    if (questions.size === 0) return { granted: jobs, refused: [] }
    const { clock, limiter, queue } = this.#ctx
    const now = clock.now()
    let answers: readonly Grant[]
    try {
      answers = await limiter.take([...questions.values()], now)
    } catch (cause) {
      this.#complain('the limiter does not answer: deliveries pass unlimited', cause)
      return { granted: jobs, refused: [] }
    }
    const grants = new Map([...questions.keys()].map((group, i) => [group, answers[i]!]))
    const limited = divide(jobs, grants)
    const pauses = pausesOf(limited.refused, grants, now)
    // The pause comes before the refused jobs are given back, so that no process claims them in between.
    if (pauses.length > 0) await queue.pause(pauses)
    return limited
  }

  /** What to ask the limiter, by endpoint. */
  #questions(jobs: readonly ReadyJob[]): Map<string, Question> {
    const questions = new Map<string, Question>()
    for (const { hold, loaded } of jobs) {
      const { group } = hold.claim
      const limit = loaded.endpoint?.enabled ? loaded.endpoint.rate_limit : null
      if (!limit) {
        if (this.#unlimited.size > maxUnlimited) this.#unlimited.clear()
        this.#unlimited.add(group)
        continue
      }
      this.#unlimited.delete(group)
      const question = questions.get(group)
      if (question === undefined) questions.set(group, { key: `endpoint:${group}`, limit, want: 1 })
      else question.want++
    }
    return questions
  }
}

/** The first jobs of an endpoint are granted, as many as the limit allows. */
function divide(jobs: readonly ReadyJob[], grants: ReadonlyMap<string, Grant>): LimitedJobs {
  const granted: ReadyJob[] = []
  const refused: Hold[] = []
  const used = new Map<string, number>()
  for (const job of jobs) {
    const { group } = job.hold.claim
    const count = (used.get(group) ?? 0) + 1
    used.set(group, count)
    if (count <= (grants.get(group)?.granted ?? Infinity)) granted.push(job)
    else refused.push(job.hold)
  }
  return { granted, refused }
}

function pausesOf(refused: readonly Hold[], grants: ReadonlyMap<string, Grant>, now: number) {
  const refusedGroups = new Set(refused.map(({ claim }) => claim.group))
  return Array.from(refusedGroups, (group) => {
    const { retryAfterMs } = grants.get(group)! // only a limited endpoint has refused jobs
    return { group, until: now + Math.max(1, Math.ceil(retryAfterMs)) }
  })
}
