import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Route, RouteKey } from '../../src/contracts/storage/configuration.ts'
import { routeTable } from '../../src/services/routes.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

/** A table over a storage whose answers wait for `release`. */
function slow() {
  const clock = fakeClock()
  const waiting: (() => void)[] = []
  const reads: string[] = []
  let served: Readonly<Record<string, string>> = {}
  const storage = {
    async routes(keys: readonly RouteKey[]) {
      reads.push(keys.map(({ method, path }) => `${method} ${path}`).join(', '))
      const answer = keys.map(({ path }): Route | null => {
        const sourceId = served[path]
        return sourceId === undefined ? null : { workspaceId: 'w', sourceId }
      })
      await new Promise<void>((resolve) => waiting.push(resolve))
      return answer
    },
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    clock,
    table: routeTable({ storage, clock, batches: true }),
    serve: (now: Readonly<Record<string, string>>) => void (served = now),
    async release() {
      await settle()
      waiting.splice(0).forEach((resolve) => resolve())
    },
    reads,
  }
}

describe('the table of routes', () => {
  test('looks up together what many ask at once, and keeps what is served', async () => {
    const { table, serve, release, reads } = slow()
    serve({ '/a': 's' })
    const asked = Promise.all([table.find('/a', 'POST'), table.find('/b', 'POST')])
    await release()
    expect((await asked).map((route) => route?.sourceId)).toEqual(['s', undefined])
    table.forget() // somebody added a source elsewhere
    expect(await table.find('/a', 'POST')).toEqual({ workspaceId: 'w', sourceId: 's' })
    expect(reads).toEqual(['POST /a, POST /b'])
  })

  test('looks an unknown path up at most once a second, and again when routes were added', async () => {
    const { clock, table, serve, release, reads } = slow()
    const first = table.find('/a', 'POST')
    await release()
    await first
    for (let i = 0; i < 5; i++) expect(await table.find('/a', 'POST')).toBeNull()
    expect(reads).toHaveLength(1)
    await clock.advance('1s')
    const second = table.find('/a', 'POST')
    await release()
    expect(await second).toBeNull()
    serve({ '/a': 's' })
    table.forget()
    const third = table.find('/a', 'POST')
    await release()
    expect((await third)?.sourceId).toBe('s')
    expect(reads).toHaveLength(3)
  })

  test('keeps no unknown path of a read that began before it was told to forget', async () => {
    const { table, serve, release } = slow()
    const early = table.find('/a', 'POST')
    await new Promise((resolve) => setImmediate(resolve)) // the read has begun
    serve({ '/a': 's' })
    table.forget()
    await release()
    expect(await early).toBeNull()
    const late = table.find('/a', 'POST')
    await release()
    expect((await late)?.sourceId).toBe('s')
  })

  test('forgets a route that is asked for afresh and is gone', async () => {
    const { table, serve, release, reads } = slow()
    serve({ '/a': 's' })
    const first = table.find('/a', 'POST')
    await release()
    await first
    serve({})
    const second = table.fresh('/a', 'POST')
    await release()
    expect(await second).toBeNull()
    expect(await table.find('/a', 'POST')).toBeNull()
    expect(reads).toHaveLength(2)
  })
})

describe('the gateway', () => {
  function counted() {
    const storage = memory()
    const { routes } = storage
    const seen = { reads: 0 }
    storage.routes = async (keys) => {
      seen.reads++
      return await routes(keys)
    }
    const posthorn = createTestPosthorn({ storage })
    const send = async (path: string) => {
      const request = new Request(`http://gateway.test${path}`, {
        method: 'POST',
        body: '{"event_type":"a","data":{}}',
      })
      return (await posthorn.gateway.fetch(request)).status
    }
    return { storage, seen, posthorn, send }
  }

  test('reads the route of a source once, whatever is written', async () => {
    const { seen, posthorn, send } = counted()
    const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
    expect(await send('/in')).toBe(200)
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    await posthorn.workspaces.create({ id: 'other' })
    await posthorn.sources.create('other', { config: { http: { path: '/other' } } })
    await posthorn.sources.patch('default', source.id, { name: 'renamed' })
    expect(await send('/in')).toBe(200)
    expect(seen.reads).toBe(1)
  })

  test('serves a new path at once, and one that moved to a source of another workspace', async () => {
    const { seen, posthorn, send } = counted()
    expect(await send('/in')).toBe(404)
    const first = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
    expect(await send('/in')).toBe(200)
    await posthorn.sources.patch('default', first.id, { config: { http: { path: '/elsewhere' } } })
    await posthorn.workspaces.create({ id: 'other' })
    await posthorn.sources.create('other', { config: { http: { path: '/in' } } })
    expect(await send('/in')).toBe(200)
    const { data } = await posthorn.events.list('other')
    expect(data).toHaveLength(1)
    expect(seen.reads).toBe(3)
    await posthorn.workspaces.delete('other')
    expect(await send('/in')).toBe(404)
  })
})
