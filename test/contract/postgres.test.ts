import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { runInboxEquivalence } from '../../src/testing/inbox-equivalence.ts'
import { runQueueEquivalence } from '../../src/testing/queue-equivalence.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { runStorageEquivalence } from '../../src/testing/storage-equivalence.ts'
import { clients, schemasOf } from '../support/postgres.ts'
import { promises } from './suite.ts'

const url = inject('postgresUrl')

describe.skipIf(url === null).each(clients)('PostgreSQL through $name', ({ open: connect }) => {
  let connected: ReturnType<typeof connect>
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    connected = connect(url!) // skipped where it is null
    schemas = schemasOf(connected.handle)
  })
  afterAll(async () => {
    await schemas.drop()
    await connected.close()
  })
  const open = () => schemas.open()
  const part =
    <Part extends 'queue' | 'inbox' | 'limiter'>(name: Part) =>
    async () => {
      const { subject, close } = await open()
      return { subject: subject[name], close }
    }

  describe('its queue', () => promises(queueContract, part('queue')))
  describe('its inbox', () => promises(inboxContract, part('inbox')))
  describe('its limiter', () => promises(limiterContract, part('limiter')))
  describe('its storage', () => promises(storageContract, open))

  test('its queue and that of memory answer a random sequence alike', { timeout: 60_000 }, async () => {
    const { subject, close } = await open()
    const run = runQueueEquivalence({ seed: 11, operations: 600, left: memory().queue, right: subject.queue })
    await expect(run).resolves.toBeUndefined()
    await close()
  })

  test('its inbox and that of memory answer a random sequence alike', { timeout: 60_000 }, async () => {
    const { subject, close } = await open()
    const run = runInboxEquivalence({ seed: 13, operations: 600, left: memory().inbox, right: subject.inbox })
    await expect(run).resolves.toBeUndefined()
    await close()
  })

  test('it and memory answer a random sequence alike', { timeout: 60_000 }, async () => {
    const { subject, close } = await open()
    const run = runStorageEquivalence({ seed: 12, operations: 600, left: memory(), right: subject })
    await expect(run).resolves.toBeUndefined()
    await close()
  })
})
