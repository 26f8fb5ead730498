import type { Storage } from '../../src/contracts/storage.ts'
import type { Connection } from './client.ts'
import { run, script } from './scripts.ts'

/** ARGV: name, start of the period. Answers 1 for the first caller. */
const turn = script(
  `
local last = redis.call('HGET', KEYS[1] .. ':turns', ARGV[1])
if last and tonumber(last) >= tonumber(ARGV[2]) then return { '0' } end
redis.call('HSET', KEYS[1] .. ':turns', ARGV[1], ARGV[2])
return { '1' }`,
  { again: false },
)

export function periodicTurn(connection: Connection, tag: string): Storage['turn'] {
  return async (name, periodMs, now) => {
    const [first] = await run(connection, turn, tag, [name, Math.floor(now / periodMs) * periodMs])
    return first === '1'
  }
}
