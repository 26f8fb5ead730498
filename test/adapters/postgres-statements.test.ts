import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const request = { url: 'https://a.test/' }

describe.skipIf(url === null)('statements of a write of configuration', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  const sent: string[] = []
  let answer: (method: string, path: string, body?: object) => Promise<{ status: number; statements: number }>

  beforeAll(async () => {
    pool = new Pool({ connectionString: url!, max: 4 }) // skipped where it is null
    schemas = schemasOf(pool)
    const { schema } = await schemas.open({ listen: false })
    const client = {
      query(text: string, values: unknown[]) {
        sent.push(text)
        return pool.query(text, values)
      },
    }
    const { admin, workspaces } = createPosthorn({ storage: postgres(client, { schema }), logger: quiet })
    await workspaces.create({ id: 'w', name: 'shop' })
    answer = async (method, path, body) => {
      sent.length = 0
      const { status } = await admin.fetch(
        new Request(`http://localhost/workspaces/shop${path}`, {
          method,
          body: body === undefined ? null : JSON.stringify(body),
        }),
      )
      // A notification only saves other processes a reload: no answer waits for the statement that sends it.
      return { status, statements: sent.filter((text) => !text.includes('pg_notify')).length }
    }
    await answer('POST', '/endpoints', { id: 'other', name: 'taken', request })
    await answer('POST', '/endpoints', { id: 'e', name: 'first', request })
    await answer('POST', '/sources', { id: 's', config: { http: { path: '/s' } } })
    await answer('POST', '/plugins', { id: 'p', name: 'standard-webhooks', endpoint_id: 'e' })
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  test.each([
    ['PUT', '/endpoints/e', { description: 'changed' }, 200],
    ['PUT', '/endpoints/e', { name: 'renamed', events: ['a', 'b', 'c'] }, 200],
    ['PUT', '/sources/s', { config: { http: { path: '/elsewhere', methods: ['PUT'] } } }, 200],
    ['PUT', '/plugins/p', { enabled: false }, 200],
    ['DELETE', '/sources/s', undefined, 204],
  ])('%s %s %j makes three', async (method, path, body, status) => {
    expect(await answer(method, path, body)).toEqual({ status, statements: 3 })
  })

  test('a refused PUT asks once more, what stands against it', async () => {
    expect(await answer('PUT', '/endpoints/e', { name: 'taken' })).toEqual({ status: 400, statements: 4 })
    expect(await answer('PUT', '/endpoints/unknown', { name: 7 })).toEqual({ status: 404, statements: 2 })
  })
})
