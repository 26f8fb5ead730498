import type { Pool } from 'pg'

import type { Receiver } from './receiver.ts'

/** What came of the events that were accepted while something broke. */
export interface Report {
  readonly fault: string
  /** Events whose publisher was told that they are stored. */
  readonly accepted: number
  /** Of these, those that the endpoint answered 200. */
  readonly delivered: number
  /** Of these, those with one SUCCESSFUL attempt, no open one, and none of a number twice. */
  readonly settledOnce: number
  /** Requests beyond the first of an attempt. */
  readonly duplicates: number
  /** Times that a publisher was told to try again. */
  readonly refusals: number
  /** From the end of the fault until all that was accepted before is settled. */
  readonly recoverySeconds: number
  /** What `health` told, one after the other. */
  readonly health: string
}

/** Reads what is stored of the events, and what the endpoint saw. */
export async function counted(
  pool: Pool,
  schema: string,
  accepted: readonly string[],
  receiver: Receiver,
): Promise<Pick<Report, 'accepted' | 'delivered' | 'settledOnce' | 'duplicates'>> {
  const { rows } = await pool.query<{ settled: string }>(
    `select count(*) as settled from (
       select a.event_id from ${schema}.attempts a left join ${schema}.outcomes o on o.attempt_id = a.id
       where a.event_id = any($1) group by a.event_id
       having count(*) filter (where o.status = 'SUCCESSFUL') = 1
         and count(*) filter (where o.status is null) = 0 and count(distinct a.attempt_number) = count(*)
     ) once`,
    [accepted],
  )
  return {
    accepted: accepted.length,
    delivered: accepted.filter((id) => receiver.events.has(id)).length,
    settledOnce: Number(rows[0]!.settled), // an aggregate is one row
    duplicates: [...receiver.attempts.values()].reduce((sum, requests) => sum + requests - 1, 0),
  }
}

/** Resolves when the question is answered yes. @throws Error after `withinMs`. */
export async function until(what: string, withinMs: number, question: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await question())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** Rows under their names, in columns. */
export function table(rows: readonly object[]): string {
  const names = Object.keys(rows[0] ?? {})
  const lines = [names, ...rows.map((row) => Object.values(row).map(String))]
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)))
  return lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')).join('\n')
}

export const seconds = (ms: number): number => Math.round(ms / 100) / 10

/** Whether nothing was lost and nothing settled twice. */
export function holds({ accepted, delivered, settledOnce }: Report): boolean {
  return delivered === accepted && settledOnce === accepted
}
