import { expect, test } from 'vitest'

import { translated } from '../../adapters/redis/answers.ts'

const script = 'script: 0123456789abcdef0123456789abcdef01234567, on @user_script:12.'

/** What servers say, each by its version. */
const refusals: readonly (readonly [string, string])[] = [
  ['Redis 6', "OOM command not allowed when used memory > 'maxmemory'."],
  [
    'Redis 6, in a script',
    "ERR Error running script (call to f_01): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.",
  ],
  ['Redis 7, in a script', `OOM command not allowed when used memory > 'maxmemory'. ${script}`],
  ['Redis 8, in a script', `OOM command not allowed when used memory > 'maxmemory'. ${script}`],
  ['Redis 7', "READONLY You can't write against a read only replica."],
  ['Redis 8, in a script', `READONLY You can't write against a read only replica. ${script}`],
  ['Redis 7', 'LOADING Redis is loading the dataset in memory'],
  ['Valkey 8', 'LOADING Valkey is loading the dataset in memory'],
  ['Redis 7', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
  ['Valkey 8', 'BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
  ['Redis 7', "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."],
  ['Valkey 8', "MISCONF Valkey is configured to save RDB snapshots, but it's currently unable to persist to disk."],
  ['Valkey 8, in a script', `MISCONF Errors writing to the AOF file: No space left on device ${script}`],
  ['Redis 7', 'NOREPLICAS Not enough good replicas to write.'],
  ['Redis 7', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
  ['Redis 7', 'CLUSTERDOWN The cluster is down'],
  ['Redis 7', 'TRYAGAIN Multiple keys request during rehashing of slot'],
  ['Redis 7', 'NOAUTH Authentication required.'],
  ['Valkey 8', 'WRONGPASS invalid username-password pair or user is disabled.'],
  ['Redis 7', "NOPERM User worker has no permissions to run the 'evalsha' command"],
  [
    'Redis 8, in a script',
    `NOPERM ACL failure in script: User worker has no permissions to run the 'hset' command ${script}`,
  ],
  ['Redis 7', 'ERR max number of clients reached'],
  ['Redis 7, in a cluster', 'ERR max number of clients + cluster connections reached'],
]

test.each(refusals)('%s that cannot serve is unavailable: %s', (_, text) => {
  expect(translated(new Error(text))).toMatchObject({ name: 'PosthornError', code: 'unavailable' })
})

test.each([
  ['Redis 7', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
  ['Redis 8', "ERR unknown command 'HSETT', with args beginning with: 'a' "],
  ['Valkey 8', 'NOSCRIPT No matching script.'],
])('%s that refuses what was asked is not: %s', (_, text) => {
  expect(translated(new Error(text))).not.toMatchObject({ code: 'unavailable' })
})
