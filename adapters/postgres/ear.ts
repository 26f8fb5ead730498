import type { Database } from './database.ts'
import { provenLine } from './line.ts'
import { channelOf, readNotification, type News, notifyNothing } from './notify.ts'

/** `here`: it was sent by the notifier of the same origin. */
type Listener = (news: News, where: 'here' | 'elsewhere') => void

/** Hears what others notify, on one connection that is open while somebody listens. */
export interface Ear {
  on(listener: Listener): Promise<() => Promise<void>>
  /** False while somebody listens and nothing can be heard. */
  isWell(): boolean
  close(): Promise<void>
}

/** An ear where the client can listen. After a lost connection all may have happened. */
export function earOf(db: Database, origin: () => string): Ear | null {
  const listen = db.client.listen?.bind(db.client)
  if (listen === undefined) return null
  const listeners = new Set<Listener>()
  const tell: Listener = (news, where) => {
    for (const listener of listeners) listener(news, where)
  }
  const line = provenLine({
    open: (hears, regained, lost) => listen(channelOf(db.schema), hears, regained, lost),
    hears(payload) {
      const { news, from } = readNotification(payload)
      for (const each of news) tell(each, from === origin() ? 'here' : 'elsewhere')
    },
    regained() {
      tell('everything', 'elsewhere')
      tell('jobs', 'elsewhere')
      tell('messages', 'elsewhere')
    },
    speak: () => notifyNothing(db, origin()),
  })

  return {
    async on(listener) {
      listeners.add(listener)
      try {
        await line.open()
      } catch (error) {
        listeners.delete(listener)
        throw error
      }
      return async () => {
        listeners.delete(listener)
        if (listeners.size === 0) await line.close()
      }
    },
    isWell: () => line.isWell(),
    async close() {
      listeners.clear()
      await line.close()
    },
  }
}
