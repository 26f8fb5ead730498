import { setTimeout as sleep } from 'node:timers/promises'

import type { RedisFault } from './redis-trial.ts'

/** What was acknowledged is on the disk. */
const durable = { appendonly: 'yes', appendfsync: 'always' }
/** How long a killed server stays away. */
const awayMs = 500

export const processesKilled: RedisFault = {
  name: 'processes killed',
  settings: durable,
  inbox: true,
  strike: ({ replace }) => replace(),
}

export const flushed: RedisFault = {
  name: 'FLUSHALL',
  settings: {},
  inbox: false,
  async strike({ command }) {
    await command('FLUSHALL')
  },
}

/** It keeps nothing on disk, so it comes back empty. */
export const emptied: RedisFault = {
  name: 'redis-server killed, empty',
  settings: {},
  inbox: false,
  async strike({ redis }) {
    await redis.kill()
    await sleep(awayMs)
    await redis.start()
  },
}

export const crashed: RedisFault = { ...emptied, name: 'redis-server killed', settings: durable, inbox: true }
