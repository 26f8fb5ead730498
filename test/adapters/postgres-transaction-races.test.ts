import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import type { BoundPosthorn, Posthorn } from '../../src/surface/posthorn.ts'
import { schemasOf } from '../support/postgres.ts'

const url = inject('postgresUrl')
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const request = { url: 'https://a.test/' }
const http = (path: string) => ({ http: { path } })

/** Writes that two workspaces, or two callers, cannot both make: `one` makes the first of two, `other` the second. */
const rivals: readonly {
  readonly what: string
  one(functions: BoundPosthorn | Posthorn): Promise<unknown>
  other(functions: BoundPosthorn | Posthorn): Promise<unknown>
}[] = [
  {
    what: 'the id of an endpoint',
    one: ({ endpoints }) => endpoints.create('a', { id: 'same', request }),
    other: ({ endpoints }) => endpoints.create('b', { id: 'same', request }),
  },
  {
    what: 'the name of an endpoint',
    one: ({ endpoints }) => endpoints.create('a', { name: 'same', request }),
    other: ({ endpoints }) => endpoints.create('a', { name: 'same', request }),
  },
  {
    what: 'the path of a source',
    one: ({ sources }) => sources.create('a', { config: http('/same') }),
    other: ({ sources }) => sources.create('b', { config: http('/same') }),
  },
  {
    what: 'the path of a source that moves there',
    one: ({ sources }) => sources.update('a', 'source-a', { config: http('/same') }),
    other: ({ sources }) => sources.update('b', 'source-b', { config: http('/same') }),
  },
  {
    what: 'the id of a plugin',
    one: ({ plugins }) => plugins.create('a', { id: 'same', name: 'standard-webhooks', endpoint_id: 'endpoint-a' }),
    other: ({ plugins }) => plugins.create('b', { id: 'same', name: 'standard-webhooks', endpoint_id: 'endpoint-b' }),
  },
  {
    what: 'the plugin of an endpoint',
    one: ({ plugins }) => plugins.create('a', { name: 'standard-webhooks', endpoint_id: 'endpoint-a' }),
    other: ({ plugins }) => plugins.create('a', { name: 'standard-webhooks', endpoint_id: 'endpoint-a' }),
  },
  {
    what: 'the id of a workspace',
    one: ({ workspaces }) => workspaces.create({ id: 'same' }),
    other: ({ workspaces }) => workspaces.create({ id: 'same' }),
  },
  {
    what: 'the name of a workspace that is renamed',
    one: ({ workspaces }) => workspaces.update('a', { name: 'same' }),
    other: ({ workspaces }) => workspaces.update('b', { name: 'same' }),
  },
  {
    what: 'a path in a sync of more',
    one: ({ config }) => config.sync('a', { sources: [{ name: 's', config: http('/same') }] }),
    other: ({ config }) =>
      config.sync('b', {
        endpoints: [{ name: 'e', request }],
        sources: [
          { name: 'r', config: http('/own') },
          { name: 's', config: http('/same') },
        ],
      }),
  },
]

describe.skipIf(url === null)('writers of the same key at the same moment', () => {
  let pool: Pool
  let schemas: ReturnType<typeof schemasOf>
  let posthorn: Posthorn
  beforeAll(() => {
    pool = new Pool({ connectionString: url!, max: 10 }) // skipped where it is null
    schemas = schemasOf(pool)
  })
  beforeEach(async () => {
    const { subject, close } = await schemas.open({ listen: false })
    posthorn = createPosthorn({ storage: subject, logger: quiet })
    for (const id of ['a', 'b']) {
      await posthorn.workspaces.create({ id })
      await posthorn.endpoints.create(id, { id: `endpoint-${id}`, request })
      await posthorn.sources.create(id, { id: `source-${id}`, config: http(`/${id}`) })
    }
    return close
  })
  afterAll(async () => {
    await schemas.drop()
    await pool.end()
  })

  async function begun() {
    const client = await pool.connect()
    await client.query('begin')
    return {
      bound: posthorn.using(client),
      /** Commits, which fails when an error has spoilt the transaction. */
      async end(how: 'commit' | 'rollback') {
        const { command } = await client.query(how)
        client.release()
        return command
      },
    }
  }

  describe.each(rivals)('$what', ({ one, other }) => {
    test('in two transactions of hosts: the second waits, is told, and goes on', async () => {
      const [first, second] = [await begun(), await begun()]
      await one(first.bound)
      const waiting = other(second.bound).catch((error: unknown) => error)
      expect(await Promise.race([waiting, after(30)])).toBe('waits')
      expect(await first.end('commit')).toBe('COMMIT')
      expect(await waiting).toMatchObject({ code: 'unique_violation' })
      await second.bound.endpoints.create('b', { id: 'another', request })
      expect(await second.end('commit')).toBe('COMMIT')
      expect(await posthorn.endpoints.get('b', 'another')).toMatchObject({ id: 'another' })
      // Nothing of what was refused is left.
      expect((await posthorn.endpoints.list('b', {})).data.map(({ id }) => id)).toEqual(
        ['endpoint-b', 'another'].toSorted().toReversed(),
      )
      expect((await posthorn.sources.list('b', {})).data.every(({ config }) => config.http.path !== '/own')).toBe(true)
    })

    test('the second gets it when the first rolls back', async () => {
      const [first, second] = [await begun(), await begun()]
      await one(first.bound)
      const waiting = other(second.bound)
      expect(await Promise.race([waiting, after(30)])).toBe('waits')
      await first.end('rollback')
      await waiting
      expect(await second.end('commit')).toBe('COMMIT')
    })

    test('in the transaction of a host and outside of it', async () => {
      const first = await begun()
      await one(first.bound)
      const waiting = other(posthorn).catch((error: unknown) => error)
      expect(await Promise.race([waiting, after(30)])).toBe('waits')
      expect(await first.end('commit')).toBe('COMMIT')
      expect(await waiting).toMatchObject({ code: 'unique_violation' })
    })

    test('in a crowd of both one comes through, and no transaction is spoilt', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const act = i % 2 === 0 ? one : other
          const done = (functions: BoundPosthorn | Posthorn) =>
            act(functions).then(
              () => 'written',
              (error: { code?: string }) => error.code,
            )
          if (i % 4 < 2) return await done(posthorn)
          const { bound, end } = await begun()
          const outcome = await done(bound)
          expect(await end('commit')).toBe('COMMIT')
          return outcome
        }),
      )
      const written = outcomes.filter((outcome) => outcome === 'written')
      expect(outcomes.every((outcome) => outcome === 'written' || outcome === 'unique_violation')).toBe(true)
      expect(written.length).toBeGreaterThan(0)
    })
  })
})

function after(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'waits'))
}
