import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe } from 'vitest'

import { inboxContract } from '../../src/testing/inbox-contract.ts'
import { limiterContract } from '../../src/testing/limiter-contract.ts'
import { queueContract } from '../../src/testing/queue-contract.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { schemasOf } from '../support/postgres.ts'
import { promises } from './suite.ts'

describe('PGlite', () => {
  let db: PGlite
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(async () => {
    db = await PGlite.create()
    schemas = schemasOf(db)
  }, 60_000)
  afterAll(() => db.close())
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
})
