import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { postgres } from '../../adapters/postgres/index.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const request = { url: 'https://a.test/' }

describe.skipIf(url === null)('writes of configuration side by side', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 10 }) // skipped where it is null
    schemas = schemasOf(pool)
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  /** A process, and how many statements it has sent, each a transaction of its own. */
  function counting(schema: string) {
    let sent = 0
    const client = {
      query(text: string, values: unknown[]) {
        sent++
        return pool.query(text, values)
      },
    }
    return { posthorn: createPosthorn({ storage: postgres(client, { schema }), logger: quiet }), sent: () => sent }
  }

  test('160 creates in one workspace cost at most five transactions each, in one process and in four', async () => {
    const { schema, close } = await schemas.open({ listen: false })
    for (const processes of [1, 4]) {
      const all = Array.from({ length: processes }, () => counting(schema))
      const { id } = await all[0]!.posthorn.workspaces.create({})
      const before = all.reduce((sum, { sent }) => sum + sent(), 0)
      await Promise.all(
        Array.from({ length: 160 }, (_, i) =>
          all[i % processes]!.posthorn.endpoints.create(id, { request, name: `e${i}` }),
        ),
      )
      const each = (all.reduce((sum, { sent }) => sum + sent(), 0) - before) / 160
      expect(each).toBeLessThanOrEqual(5)
      expect((await all[0]!.posthorn.endpoints.list(id, { limit: 200 })).data).toHaveLength(160)
    }
    await close()
  })

  test('each gets its own answer: refusals, bounds, updates and deletions among them', async () => {
    const { subject, close } = await schemas.open({ listen: false })
    const posthorn = createPosthorn({ storage: subject, logger: quiet, limits: { endpoints: 6 } })
    const { id: workspace } = await posthorn.workspaces.create({})
    for (const id of ['one', 'two']) await posthorn.endpoints.create(workspace, { id, name: id, request })
    const code = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        ({ code }: { code: string }) => code,
      )
    const answers = await Promise.all([
      code(posthorn.endpoints.create(workspace, { id: 'three', request })),
      code(posthorn.endpoints.create(workspace, { id: 'three', request })),
      code(posthorn.endpoints.create(workspace, { id: 'one', request })),
      code(posthorn.endpoints.create(workspace, { id: 'four', name: 'two', request })),
      code(posthorn.endpoints.update(workspace, 'one', { name: 'first' })),
      code(posthorn.endpoints.delete(workspace, 'two')),
      code(posthorn.sources.create(workspace, { id: 'source', config: { http: { path: '/x' } } })),
      code(posthorn.plugins.create(workspace, { name: 'standard-webhooks', endpoint_id: 'one' })),
    ])
    expect(answers.filter((answer) => answer === 'unique_violation').length).toBeGreaterThanOrEqual(2)
    expect(answers[0] === 'done' ? answers[1] : answers[0]).toBe('unique_violation')
    expect(answers[2]).toBe('unique_violation')
    expect(answers.slice(4)).toEqual(['done', 'done', 'done', 'done'])
    expect((await posthorn.endpoints.get(workspace, 'one')).name).toBe('first')
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, i) => code(posthorn.endpoints.create(workspace, { id: `more-${i}`, request }))),
    )
    expect((await posthorn.endpoints.list(workspace, { limit: 50 })).data).toHaveLength(6)
    expect(many.filter((answer) => answer === 'validation').length).toBeGreaterThan(10)
    await close()
  })
})
