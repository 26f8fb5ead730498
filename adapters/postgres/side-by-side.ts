import type { ConfigPlan, Violation } from '../../src/contracts/storage/configuration.ts'
import { violationOf } from '../../src/core/configuration-rules.ts'
import { kinds } from '../../src/core/row-plan.ts'
import type { Database } from './database.ts'
import { isRefusal, lateError } from './errors.ts'
import type { Notify } from './notify.ts'
import { change, judgedBy, type Refuse, writeUnlessRaced } from './plan.ts'
import { readPlanContext } from './plan-context.ts'
import { defaultTimeoutMs } from './timers.ts'
import type { Judged } from './write-plan.ts'

/** The most writes that go together. */
const maxTogether = 100
/** The most rounds that such writes go on together while others write. */
const maxRounds = 20

/** The write of a row, waiting. */
interface Waiting {
  readonly plan: ConfigPlan
  readonly refuse: Refuse<unknown>
  readonly judged: Judged | undefined
  readonly since: number
  answer(answer: unknown): void
  fail(cause: unknown): void
}

/**
 * Writes a row, or deletes a row. `judged`: the write may be tried in one statement at first, where no other write of the
 * workspace waits.
 */
export type ChangeRow = <Refusal>(
  plan: ConfigPlan,
  refuse: Refuse<Refusal>,
  judged?: Judged,
) => Promise<'written' | Refusal | Violation>

/**
 * Writes of rows of a workspace that come side by side in this process are judged and written together: else each write
 * would raise the revision that the other writes were judged by. Writes that conflict with each other are made in turn.
 */
export function sideBySide(db: Database, notify: Notify): ChangeRow {
  const queues = new Map<string, Waiting[]>()

  async function drain(workspaceId: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const batch = takeDistinct(queue)
      const isOnly = batch.length === 1
      if (!isOnly && (await together(db, notify, batch))) continue
      for (const waiting of batch) await alone(db, notify, waiting, isOnly)
    }
    queues.delete(workspaceId)
  }

  return (plan, refuse, judged) => {
    if (db.bound) return change(db, notify, plan, refuse)
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        plan,
        refuse,
        judged,
        since: performance.now(),
        answer: (answer) => resolve(answer as 'written'), // of this very plan
        fail: reject,
      }
      const queue = queues.get(plan.workspaceId)
      if (queue !== undefined) return void queue.push(waiting)
      const own = [waiting]
      queues.set(plan.workspaceId, own)
      queueMicrotask(() => void drain(plan.workspaceId, own))
    })
  }
}

/** The first of the queue, no row twice. */
function takeDistinct(queue: Waiting[]): Waiting[] {
  const ids = new Set<string>()
  const end = queue.findIndex(({ plan }, i) => {
    const own = kinds.flatMap((kind) =>
      [...plan[kind].put.map(({ id }) => id), ...plan[kind].remove].map((id) => kind + id),
    )
    const isKnown = own.some((id) => ids.has(id))
    for (const id of own) ids.add(id)
    return isKnown || i === maxTogether
  })
  return queue.splice(0, end === -1 ? queue.length : Math.max(end, 1))
}

/** Makes one write. `isOnly`: no other write waited beside this write, so that one statement will mostly do. */
async function alone(db: Database, notify: Notify, waiting: Waiting, isOnly: boolean): Promise<void> {
  const { plan, refuse, judged, since, answer, fail } = waiting
  if (performance.now() - since >= defaultTimeoutMs) return fail(lateError())
  try {
    const isWritten = isOnly && judged !== undefined && (await writeUnlessRaced(db, notify, plan, judged))
    answer(isWritten ? 'written' : await change(db, notify, plan, refuse))
  } catch (cause) {
    fail(cause)
  }
}

/**
 * Writes all, and answers all, unless the writes conflict with each other. Where other processes write to the workspace
 * too, a single process succeeds in each round; the other processes look and write again.
 */
async function together(db: Database, notify: Notify, batch: Waiting[]): Promise<boolean> {
  try {
    const isLate = (): boolean => performance.now() - batch[0]!.since >= defaultTimeoutMs // the first waits the longest
    for (let round = 0; round < maxRounds && !isLate(); round++) {
      const outcome = await writeTogether(db, notify, batch)
      if (outcome !== 'raced') return outcome === 'answered'
    }
    return false
  } catch (cause) {
    if (isRefusal(cause)) return false // a single write is at fault
    for (const { fail } of batch) fail(cause)
    return true
  }
}

/** Answers the refused writes, and makes all other writes in a single step. `raced`: another process wrote meanwhile. */
async function writeTogether(
  db: Database,
  notify: Notify,
  batch: Waiting[],
): Promise<'answered' | 'raced' | 'cannot stand together'> {
  const seen = await readPlanContext(db, merged(batch))
  const refusals = batch.map(({ refuse }) => refuse(seen))
  const good = batch.filter((_, i) => refusals[i] === null)
  if (good.length > 0) {
    const plan = merged(good)
    if (violationOf(plan, seen) !== null) return 'cannot stand together'
    if (!(await writeUnlessRaced(db, notify, plan, judgedBy(plan, seen)))) return 'raced'
  }
  batch.forEach(({ answer }, i) => answer(refusals[i] ?? 'written'))
  return 'answered'
}

function merged(batch: readonly Waiting[]): ConfigPlan {
  const plans = batch.map(({ plan }) => plan)
  return {
    ...plans[0]!, // never empty
    endpoints: {
      put: plans.flatMap(({ endpoints }) => endpoints.put),
      remove: plans.flatMap(({ endpoints }) => endpoints.remove),
    },
    sources: {
      put: plans.flatMap(({ sources }) => sources.put),
      remove: plans.flatMap(({ sources }) => sources.remove),
    },
    plugins: {
      put: plans.flatMap(({ plugins }) => plugins.put),
      remove: plans.flatMap(({ plugins }) => plugins.remove),
    },
  }
}
