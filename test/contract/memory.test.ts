import { describe } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { engineOnDemand } from '../../src/services/engine-on-demand.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { promises } from './suite.ts'

const close = async () => {}

const onDemand = () => engineOnDemand({ name: 'memory', inProcess: true }, async () => memory())

describe.each([
  ['memory', memory],
  ['memory, loaded when it is first needed,', onDemand],
])('%s', (_name, make) => {
  promises(storageContract, async () => ({ subject: make(), close }))
})
describe.each([
  ['memory', memory],
  ['memory, loaded when it is first needed', onDemand],
])('the queue of %s', (_name, make) => {
  promises(queueContract, async () => ({ subject: make().queue, close }))
})
describe.each([
  ['memory', memory],
  ['memory, loaded when it is first needed', onDemand],
])('the inbox of %s', (_name, make) => {
  promises(inboxContract, async () => ({ subject: make().inbox, close }))
})
describe.each([
  ['memory', memory],
  ['memory, loaded when it is first needed', onDemand],
])('the limiter of %s', (_name, make) => {
  promises(limiterContract, async () => ({ subject: make().limiter, close }))
})
