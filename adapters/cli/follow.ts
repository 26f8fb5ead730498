import { setTimeout as sleep } from 'node:timers/promises'

import type { Attempt, CursorPage, Event, OffsetPage } from 'posthorn'

import { type Admin, isAway } from './admin.ts'
import { sentenceOf } from './failure.ts'

const pollMs = 500
const maxWaitMs = 5_000
/** How far back each look reaches: rows get their time before others can see them, as in an open transaction. */
const lookBackMs = 15_000
const pageSize = 1000

interface Row {
  readonly id: string
}

/** Follows rows that a list shows from now on. A row comes once. */
export interface Following<Followed extends Row> {
  /** A page of rows of the time window, by id. */
  page(after: string | null, from: number): Promise<CursorPage<Followed> | OffsetPage<Followed>>
  /** By what a row is known; a row that answers another key comes again. */
  key(row: Followed): string
}

/** New events of the workspace. */
export function events(admin: Admin): Following<Event> {
  return {
    page: (after, from) =>
      admin.events.list(admin.workspace, {
        created_at: { gte: from },
        sort: 'id.asc',
        limit: pageSize,
        ...(after !== null && { after }),
      }),
    key: ({ id }) => id,
  }
}

/** Attempts of the workspace that were sent. */
export function attempts(admin: Admin): Following<Attempt> {
  return {
    page: (after, from) =>
      admin.attempts.list(admin.workspace, {
        attempted_at: { gte: from },
        sort: 'id.asc',
        limit: pageSize,
        ...(after !== null && { after }),
      }),
    key: ({ id, status }) => `${id} ${status}`,
  }
}

/**
 * Answers rows as they come, until `signal`. Of the rows that exist at the beginning none comes. Where the server is
 * away it is asked again and again, and `note` says so once.
 */
export async function* follow<Followed extends Row>(
  admin: Admin,
  following: Following<Followed>,
  { signal, note, ready }: { signal: AbortSignal; note(text: string): void; ready?(): void },
): AsyncGenerator<Followed> {
  let seen: Map<string, number> | null = null
  let waitMs = pollMs
  while (!signal.aborted) {
    try {
      const from = admin.serverTime() - lookBackMs
      const rows = await all(following, from)
      if (waitMs > maxWaitMs) note(`${admin.url} answers again`)
      waitMs = pollMs
      const before: ReadonlyMap<string, number> | null = seen
      seen = remembered(before, rows.map(following.key), from)
      if (before === null) ready?.()
      else for (const row of rows) if (!before.has(following.key(row))) yield row
    } catch (error) {
      if (!isAway(error) || seen === null) throw error
      if (waitMs === pollMs) note(`${sentenceOf(error)} Asking again.`)
      waitMs = maxWaitMs + 1
    }
    await sleep(Math.min(waitMs, maxWaitMs), null, { signal }).catch(() => {})
  }
}

/** Keys are forgotten when they are out of every window to come. */
function remembered(before: ReadonlyMap<string, number> | null, keys: readonly string[], from: number) {
  const kept = [...(before ?? [])].filter(([, at]) => at >= from - lookBackMs)
  return new Map([...kept, ...keys.map((key) => [key, from + lookBackMs] as const)])
}

async function all<Followed extends Row>(following: Following<Followed>, from: number): Promise<Followed[]> {
  const rows: Followed[] = []
  let after: string | null = null
  for (;;) {
    const page = (await following.page(after, from)) as CursorPage<Followed> // a list with a limit answers these
    rows.push(...page.data)
    after = page.data.at(-1)?.id ?? null
    if (page.next === null || after === null) return rows
  }
}

/** Aborts when the person or the supervisor wants the command to end. */
export function untilStopped(): AbortSignal {
  const over = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort())
  return over.signal
}
