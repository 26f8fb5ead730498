import { redisInfo } from '../redis-info.ts'
import { type Check, type Finding, ok, problem } from './check.ts'

/** Whether Redis keeps what it acknowledged. */
export const redisCheck: Check = async ({ settings: { redisUrl } }) => {
  if (redisUrl === undefined) return []
  const info = await redisInfo(redisUrl)
  const found: Finding[] = [
    info['aof_enabled'] === '1'
      ? ok('redis', 'Redis writes an append-only file.')
      : problem(
          'redis',
          'Redis has no append-only file: what it acknowledged is lost when it ends.',
          'Set appendonly yes, and appendfsync always where nothing may be lost.',
        ),
  ]
  const policy = info['maxmemory_policy'] ?? 'noeviction'
  if (policy !== 'noeviction' && info['maxmemory'] !== '0') {
    found.push(
      problem('redis', `Redis removes keys when its memory is full (${policy}).`, 'Set maxmemory-policy noeviction.'),
    )
  }
  return found
}
