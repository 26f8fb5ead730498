import type { Change } from '../../src/contracts/storage.ts'
import { type Database, json } from './database.ts'
import { letExit } from './timers.ts'
import { sql } from './sql.ts'

/** What processes tell each other: that jobs or messages were added, or what changed. All of it is a hint. */
export type News = 'jobs' | 'messages' | Change

/** Who tells it. Processes of the version before send no such entry, and take it for a change of no workspace. */
interface Origin {
  readonly origin: string
}

/** Announces news to all processes on the schema, this one included. Inside a transaction of the host it is to be awaited. */
export type Announce = (...news: readonly News[]) => Promise<void>

const channelOf = (schema: string): string => schema
/** The server takes payloads below 8000 bytes. */
const maxPayload = 7000
const restMs = 50

/**
 * Notifies in a statement of its own, at once and then at most every 50 ms: inside a statement that writes, a NOTIFY
 * would hold a lock of the whole database server until the commit. `origin` says who it is.
 */
export function announcer(db: Database, origin: () => string): Announce {
  let waiting = new Set<string>()
  let resting = false

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
 * Inside a transaction of the host, where the server keeps a NOTIFY until the commit. The same is told once; without
 * `wake` nothing is. It has no origin: the worker of this process is to hear of the commit too.
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

function payloadOf(news: ReadonlySet<string>, ...origin: readonly Origin[]): string {
  const payload = `[${[...news, ...origin.map(json)].join(',')}]`
  const fits = new TextEncoder().encode(payload).length < maxPayload
  return fits ? payload : json(['jobs', 'messages', 'everything', ...origin])
}

/** `here`: it was announced by the announcer of the same origin. */
type Listener = (news: News, where: 'here' | 'elsewhere') => void

/** Hears what others announce, on one connection that is open while somebody listens. */
export interface Ear {
  on(listener: Listener): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** An ear where the client can listen. After a lost connection all may have happened. */
export function earOf({ client, schema }: Database, origin: () => string): Ear | null {
  const listen = client.listen?.bind(client)
  if (listen === undefined) return null
  const listeners = new Set<Listener>()
  let line: Promise<() => Promise<void>> | null = null

  const tell: Listener = (news, where) => {
    for (const listener of listeners) listener(news, where)
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
      (payload) => {
        const { news, from } = heard(payload)
        for (const each of news) tell(each, from === origin() ? 'here' : 'elsewhere')
      },
      () => {
        tell('everything', 'elsewhere')
        tell('jobs', 'elsewhere')
        tell('messages', 'elsewhere')
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

function heard(payload: string): { news: readonly News[]; from: string | undefined } {
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
