import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { routeTable } from '../../src/services/routes.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

/** A table over a storage whose answers wait for `release`. */
function slow() {
  const clock = fakeClock()
  const waiting: (() => void)[] = []
  let paths: string[] = []
  let loads = 0
  const storage: Storage = {
    ...memory(),
    async routes() {
      loads++
      const routes = paths.map((path) => ({ workspaceId: 'w', sourceId: path, path, methods: ['POST'] }))
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { revision: 1, routes }
    },
  }
  const release = () => waiting.splice(0).forEach((resolve) => resolve())
  return {
    clock,
    table: routeTable(storage, clock),
    serve: (...now: string[]) => (paths = now),
    release,
    loads: () => loads,
  }
}

describe('the table of routes', () => {
  test('is read once for many that ask at once', async () => {
    const { table, serve, release, loads } = slow()
    serve('/a')
    const asked = Promise.all([table.find('/a', 'POST'), table.find('/a', 'PUT'), table.find('/b', 'POST')])
    release()
    expect((await asked).map((route) => route?.sourceId)).toEqual(['/a', undefined, undefined])
    expect(loads()).toBe(1)
  })

  test('is read again for unknown paths at most once a second', async () => {
    const { clock, table, serve, release, loads } = slow()
    const first = table.find('/a', 'POST')
    release()
    await first
    for (let i = 0; i < 5; i++) expect(await table.find('/a', 'POST')).toBeUndefined()
    expect(loads()).toBe(1)
    serve('/a')
    await clock.advance('1s')
    const found = table.find('/a', 'POST')
    release()
    expect((await found)?.sourceId).toBe('/a')
  })

  test('keeps nothing of a read that began before it was told to forget', async () => {
    const { table, serve, release } = slow()
    const early = table.find('/a', 'POST')
    serve('/a')
    table.forget()
    const late = table.find('/a', 'POST')
    release()
    expect([await early, (await late)?.sourceId]).toEqual([undefined, '/a'])
    expect((await table.find('/a', 'POST'))?.sourceId).toBe('/a')
  })
})

test('a write to an endpoint or a plugin has no routes read again, a write to a source has', async () => {
  const storage = memory()
  const { routes } = storage
  let loads = 0
  storage.routes = async () => {
    loads++
    return await routes()
  }
  const posthorn = createTestPosthorn({ storage })
  const send = async () => {
    const request = new Request('http://gateway.test/in', { method: 'POST', body: '{"event_type":"a","data":{}}' })
    expect((await posthorn.gateway.fetch(request)).status).toBe(200)
  }
  const source = await posthorn.sources.create('default', { config: { http: { path: '/in' } } })
  await send()
  expect(loads).toBe(1)
  const { id } = await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
  await posthorn.endpoints.update('default', id, { name: 'renamed' })
  await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: id })
  await posthorn.endpoints.delete('default', id)
  await send()
  expect(loads).toBe(1)
  await posthorn.sources.patch('default', source.id, { name: 'renamed' })
  await send()
  expect(loads).toBe(2)
})
