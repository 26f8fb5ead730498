import type { Row } from '../sql/values.ts'
import type { Database } from './database.ts'
import { isRace } from './errors.ts'

const maxLooks = 10

/**
 * Asks again when an attempt was added to an event between the look at the event and its lock: each look sees what the
 * look before met. In a transaction of the host the first error is the last.
 */
export async function pastRaces(db: Database, ask: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
  for (let looks = 1; ; looks++) {
    try {
      return await ask()
    } catch (error) {
      if (db.bound || looks === maxLooks || !isRace(error)) throw error
    }
  }
}
