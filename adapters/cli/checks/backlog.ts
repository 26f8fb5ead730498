import { spanText } from '../clock-text.ts'
import { type Check, ok, problem } from './check.ts'

/** A job that has been due for longer lacks workers: waiting for a turn never takes so long. */
const maxMs = 60_000

/** Work that is due and that nobody does. */
export const backlogCheck: Check = async ({ engine, storage }) => {
  const queue = engine.options.queue ?? storage.queue
  if (queue === undefined) return []
  const now = await storage.time()
  const { size, oldestDueAt } = await queue.stats(now)
  const waiting = size === 1 ? '1 job waits' : `${size} jobs wait`
  const late = oldestDueAt === null ? 0 : now - oldestDueAt
  if (late <= maxMs) return [ok('backlog', size === 0 ? 'No job waits.' : `${waiting}, none for long.`)]
  return [
    problem(
      'backlog',
      `${waiting}, the oldest due for ${spanText(late)}.`,
      'Start workers (posthorn serve --role worker), or more of them; posthorn deliveries tail shows slow endpoints.',
    ),
  ]
}
