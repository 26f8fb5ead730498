import { describe } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { promises } from './suite.ts'

const close = async () => {}

describe('memory', () => {
  promises(storageContract, async () => ({ subject: memory(), close }))
})
describe('the queue of memory', () => {
  promises(queueContract, async () => ({ subject: memory().queue, close }))
})
describe('the inbox of memory', () => {
  promises(inboxContract, async () => ({ subject: memory().inbox, close }))
})
describe('the limiter of memory', () => {
  promises(limiterContract, async () => ({ subject: memory().limiter, close }))
})
