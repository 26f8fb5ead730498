import type { Change } from '../../src/contracts/storage/configuration.ts'
import { firstRestMs, restAfter } from '../../src/core/announcement-rest.ts'
import { json } from '../sql/values.ts'
import type { Database } from './database.ts'
import { letExit } from './timers.ts'
import { nothing, type Sql, sql } from '../sql/sql.ts'

/** What processes tell each other: that jobs or messages were added, or what changed. All of it is a hint. */
export type News = 'jobs' | 'messages' | Change

/** Who tells it. Processes of the version before send no such entry, and take it for a change of no workspace. */
interface Origin {
  readonly origin: string
}

/** Announces news to all processes on the schema, this process included. Inside a transaction of the host it is to be awaited. */
export type Notify = (...news: readonly News[]) => Promise<void>

/** The channel on which the processes of a schema talk. */
export const channelOf = (schema: string): string => schema
/** The server takes payloads below 8000 bytes. */
const maxPayload = 7000

/**
 * Notifies at once, in a separate statement, and then rests (see `restAfter`); what comes during the rest goes out
 * after it. Inside a statement that writes, a NOTIFY would hold a lock of the whole database server until the commit.
 * `origin` names the sender.
 */
export function notifier(db: Database, origin: () => string): Notify {
  let waiting = new Set<string>()
  let resting = false
  let restMs = firstRestMs

  const send = (): void => {
    if (resting || waiting.size === 0) return
    const payload = payloadOf(waiting, { origin: origin() })
    waiting = new Set()
    resting = true
    // Nothing depends on it, and what is wrong shows in every other statement.
    notify(db, payload).catch(() => {})
    letExit(
      setTimeout(() => {
        resting = false
        restMs = restAfter(restMs, waiting.size > 0)
        send()
      }, restMs),
    )
  }

  return async (...news) => {
    for (const each of news) waiting.add(json(each))
    send()
  }
}

/**
 * Inside a transaction of the host, where the server keeps a NOTIFY until the commit, and sends the same once. Without `wake`
 * nothing is sent. It has no origin: the worker of this process is to hear of the commit too.
 */
export function boundNotifier(db: Database, wake: boolean): Notify {
  return async (...news) => {
    if (wake) await notify(db, payloadOf(new Set(news.map((each) => json(each)))))
  }
}

/** What wakes workers at the commit, as the end of a query of a statement whose `made` are new attempts: it adds no row. */
export function notifyAtCommit(schema: string, wake: boolean): Sql {
  if (!wake) return nothing
  return sql`
    union all select null, null from (
      select pg_notify(${channelOf(schema)}::text, ${payloadOf(new Set([json('jobs')]))}::text)::text as notified
      from (select 1 from made limit 1) m
    ) n where n.notified is null`
}

async function notify({ run, schema }: Database, payload: string): Promise<void> {
  // As text, for some drivers cannot read an answer of type void.
  await run(sql`select pg_notify(${channelOf(schema)}::text, ${payload}::text)::text as notified`)
}

function payloadOf(news: ReadonlySet<string>, ...origin: readonly Origin[]): string {
  const payload = `[${[...news, ...origin.map(json)].join(',')}]`
  const fits = new TextEncoder().encode(payload).length < maxPayload
  return fits ? payload : json(['jobs', 'messages', 'everything', ...origin])
}

/** A notification that says nothing, for a line that nobody spoke on. Processes of the version before take it for no news. */
export async function notifyNothing(db: Database, origin: string): Promise<void> {
  await notify(db, payloadOf(new Set(), { origin }))
}

/** What a notification says, and who sent it. */
export function readNotification(payload: string): { news: readonly News[]; from: string | undefined } {
  try {
    const entries = JSON.parse(payload) as readonly (News | Origin)[] // written by `payloadOf`
    const news = entries.filter((each): each is News => !isOrigin(each))
    return { news, from: entries.find(isOrigin)?.origin }
  } catch {
    return { news: [], from: undefined }
  }
}

function isOrigin(entry: News | Origin): entry is Origin {
  return typeof entry === 'object' && 'origin' in entry
}
