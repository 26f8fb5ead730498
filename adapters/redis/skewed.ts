import type { NewAttempt } from '../../src/contracts/storage/attempts.ts'
import { timeOfId } from '../../src/core/id.ts'
import { eventSlackMs } from '../../src/core/id-bounds.ts'

/**
 * Whether an attempt is not where its id says: mostly an id is made with its attempt, and the attempt is due then or later. An
 * attempt that is astray is skewed too.
 */
export function isSkewed({
  id,
  created_at,
  scheduled_at,
}: Pick<NewAttempt, 'id' | 'created_at' | 'scheduled_at'>): boolean {
  const time = timeOfId(id)
  return time === null || created_at > time || created_at < time - eventSlackMs || scheduled_at < created_at
}
