import { ask } from '../kit/ask.ts'

/** What a replay did, or would do. */
export interface ReplayReport {
  readonly matched: number
  readonly created: number
  readonly next: string | null
}

/** Counts what a replay would send. */
export function counted(path: string, body: object, signal?: AbortSignal): Promise<ReplayReport> {
  return ask<ReplayReport>(`${path}?dry_run=true`, { method: 'POST', body, ...(signal !== undefined && { signal }) })
}

/** Replays to the end, call by call, and answers how many attempts were made. */
export async function replayed(path: string, body: object): Promise<number> {
  let made = 0
  let after: string | null = null
  do {
    const more = after === null ? {} : { after }
    const report: ReplayReport = await ask(path, { method: 'POST', body: { ...body, ...more } })
    made += report.created
    after = report.next
  } while (after !== null)
  return made
}
