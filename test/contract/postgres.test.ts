import { afterAll, beforeAll, describe, inject } from 'vitest'

import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { clients, openPostgres } from '../support/postgres.ts'
import { promises } from './suite.ts'

const url = inject('postgresUrl')

describe.skipIf(url === null).each(clients)('PostgreSQL through $name', ({ open: connect }) => {
  let connected: ReturnType<typeof connect>
  beforeAll(() => {
    connected = connect(url!) // skipped where it is null
  })
  afterAll(() => connected.close())
  const open = () => openPostgres(connected.handle)
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
})
