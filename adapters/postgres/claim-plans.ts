import { systemClock } from '../../src/clock.ts'
import type { Row } from '../sql/values.ts'
import type { Sql } from '../sql/sql.ts'
import { type Database, smallAnswerMs } from './database.ts'

/** A claim is soon given up, for that costs nothing: what it holds is given back. */
const answerMs = 5_000
const slowMs = 500
/** The patience with a plan that was slow before. */
const againAnswerMs = 1_000
/** As long as autovacuum may need to come. */
const staysMs = 60_000

/** `kept` and `again` are prepared; `trial` and `anew` are planned for this claim, which takes longer than a claim should. */
type Plan = 'kept' | 'trial' | 'again' | 'anew'

/** Sends a statement of a claim. */
export type Send = (statement: Sql) => Promise<readonly Row[]>

/**
 * How claims are planned. They are prepared, and PostgreSQL may keep a plan of a time when the tables were small, with which claims are
 * given up again and again. After a claim that is slow, or given up, sizes are told at once, and the next claim is a `trial`:
 *
 * - Where the trial is slow too, plans are not to blame, and claims are prepared whatever they take, for a minute.
 * - Where it is quick, the next claim is prepared `again`. Where that is slow, claims are planned `anew` for a minute, and then one is
 *   prepared `again`.
 */
export function claimPlans(db: Database) {
  const clock = systemClock()
  let plan: Plan = 'kept'
  let decidedAt = -Infinity

  const isOld = (now: number): boolean => now < decidedAt || now - decidedAt >= staysMs

  function learn(used: Plan, isWell: boolean, now: number): void {
    if (plan !== used) return // another claim, side by side with this, told something
    if (used === 'kept' && !isWell && isOld(now)) plan = 'trial'
    if (used === 'trial') {
      plan = isWell ? 'again' : 'kept'
      if (!isWell) decidedAt = now
    }
    if (used === 'again') {
      plan = isWell ? 'kept' : 'anew'
      if (!isWell) decidedAt = now
    }
  }

  const sendWith: Readonly<Record<Plan, Send>> = {
    kept: (statement) => db.run(statement, { answerMs }),
    trial: (statement) => db.ask(statement, { answerMs: smallAnswerMs }),
    again: (statement) => db.run(statement, { answerMs: againAnswerMs }),
    anew: (statement) => db.ask(statement, { answerMs: smallAnswerMs }),
  }

  /** Makes a claim, and learns from how long it takes. */
  return async <Answer>(now: number, claim: (send: Send) => Promise<Answer>): Promise<Answer> => {
    if (plan === 'anew' && isOld(now)) plan = 'again'
    const used = plan
    const since = clock.elapsed()
    let isWell = false
    try {
      const answer = await claim(sendWith[used])
      isWell = clock.elapsed() - since < slowMs
      return answer
    } finally {
      learn(used, isWell, now)
      if (!isWell) db.passed(Infinity) // while claims fail no rows pass that would bring about a look
    }
  }
}
