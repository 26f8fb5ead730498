import type { Change } from '../../src/contracts/storage.ts'
import { type Database, json } from './database.ts'
import { sql } from './sql.ts'

/** What processes tell each other: that jobs or messages were added, or what changed. All of it is a hint. */
export type News = 'jobs' | 'messages' | Change

/** Announces news to all processes on the schema, this one included. Inside a transaction of the host it is to be awaited. */
export type Announce = (...news: readonly News[]) => Promise<void>

const channelOf = (schema: string): string => schema
/** The server takes payloads below 8000 bytes. */
const maxPayload = 7000
const restMs = 50

/**
 * Notifies in a statement of its own, at once and then at most every 50 ms: inside a statement that writes, a NOTIFY
 * would hold a lock of the whole database server until the commit.
 */
export function announcer(db: Database): Announce {
  let waiting = new Set<string>()
  let resting = false

  const send = (): void => {
    if (resting || waiting.size === 0) return
    const payload = payloadOf(waiting)
    waiting = new Set()
    resting = true
    // Nothing depends on it, and what is wrong shows in every other statement.
    notify(db, payload).catch(() => {})
    setTimeout(() => {
      resting = false
      send()
    }, restMs)
  }

  return async (...news) => {
    for (const each of news) waiting.add(json(each))
    send()
  }
}

/**
 * Inside a transaction of the host, where the server keeps a NOTIFY until the commit. The same is told once; without
 * `wake` nothing is.
 */
export function boundAnnouncer(db: Database, wake: boolean): Announce {
  const told = new Set<string>()
  return async (...news) => {
    const fresh = new Set(news.map((each) => json(each)).filter((text) => wake && !told.has(text)))
    for (const text of fresh) told.add(text)
    if (fresh.size > 0) await notify(db, payloadOf(fresh))
  }
}

async function notify({ run, schema }: Database, payload: string): Promise<void> {
  // As text, for some drivers cannot read an answer of type void.
  await run(sql`select pg_notify(${channelOf(schema)}::text, ${payload}::text)::text as notified`)
}

function payloadOf(news: ReadonlySet<string>): string {
  const payload = `[${[...news].join(',')}]`
  return new TextEncoder().encode(payload).length < maxPayload ? payload : json(['jobs', 'messages', 'everything'])
}

/** Hears what others announce, on one connection that is open while somebody listens. */
export interface Ear {
  on(listener: (news: News) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** An ear where the client can listen. After a lost connection all may have happened. */
export function earOf({ client, schema }: Database): Ear | null {
  const listen = client.listen?.bind(client)
  if (listen === undefined) return null
  const listeners = new Set<(news: News) => void>()
  let line: Promise<() => Promise<void>> | null = null

  const tell = (news: News): void => {
    for (const listener of listeners) listener(news)
  }
  const hangUp = async (): Promise<void> => {
    const ended = line
    line = null
    const stop = await ended?.catch(() => null)
    await stop?.()
  }
  const open = (): Promise<() => Promise<void>> =>
    listen(
      channelOf(schema),
      (payload) => newsOf(payload).forEach(tell),
      () => {
        tell('everything')
        tell('jobs')
        tell('messages')
      },
    )

  return {
    async on(listener) {
      listeners.add(listener)
      line ??= open()
      const mine = line
      try {
        await mine
      } catch (error) {
        listeners.delete(listener)
        if (line === mine) line = null
        throw error
      }
      return async () => {
        listeners.delete(listener)
        if (listeners.size === 0) await hangUp()
      }
    },
    async close() {
      listeners.clear()
      await hangUp()
    },
  }
}

function newsOf(payload: string): readonly News[] {
  try {
    const news: unknown = JSON.parse(payload)
    return Array.isArray(news) ? (news as News[]) : [] // written by `payloadOf`
  } catch {
    return []
  }
}
