import type { Database } from './database.ts'
import { listeningConnection } from './listening-connection.ts'
import { channelOf, readNotification, type News, notifyNothing } from './notify.ts'

/** `here`: it was sent by the notifier of the same origin. */
type OnNews = (news: News, where: 'here' | 'elsewhere') => void

/** Receives the notifications of all processes, on a single connection that is open while somebody listens. */
export interface Listener {
  on(tell: OnNews): Promise<() => Promise<void>>
  /** False while somebody listens and no message can arrive. */
  isWell(): boolean
  close(): Promise<void>
}

/** Null where the client cannot listen. After a lost connection anything may have changed, so listeners get all kinds of news. */
export function listenerOf(db: Database, origin: () => string): Listener | null {
  const listen = db.client.listen?.bind(db.client)
  if (listen === undefined) return null
  const tellers = new Set<OnNews>()
  const tellAll: OnNews = (news, where) => {
    for (const tell of tellers) tell(news, where)
  }
  const line = listeningConnection({
    open: (hears, regained, lost) => listen(channelOf(db.schema), hears, regained, lost),
    hears(payload) {
      const { news, from } = readNotification(payload)
      for (const each of news) tellAll(each, from === origin() ? 'here' : 'elsewhere')
    },
    regained() {
      tellAll('everything', 'elsewhere')
      tellAll('jobs', 'elsewhere')
      tellAll('messages', 'elsewhere')
    },
    speak: () => notifyNothing(db, origin()),
  })

  return {
    async on(tell) {
      tellers.add(tell)
      try {
        await line.open()
      } catch (error) {
        tellers.delete(tell)
        throw error
      }
      return async () => {
        tellers.delete(tell)
        if (tellers.size === 0) await line.close()
      }
    },
    isWell: () => line.isWell(),
    async close() {
      tellers.clear()
      await line.close()
    },
  }
}
