import { describe, expect, test, vi } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { definePlugin, type PluginKind } from '../../src/contracts/plugin.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { portablePlatform } from '../../src/portable.ts'
import { registry } from '../../src/plugins/registry.ts'
import { configurationCache } from '../../src/services/configuration-cache.ts'
import { rowSecrets } from '../../src/services/secrets/row-secrets.ts'
import { parseSettings } from '../../src/settings.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { object } from '../../src/schema/fields.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

function counted(kinds: readonly PluginKind[] = []) {
  const storage = memory()
  let loads = 0
  const counting: Storage = {
    ...storage,
    async configuration(workspaceId) {
      loads++
      await Promise.resolve()
      return await storage.configuration(workspaceId)
    },
    async configurationSince(workspaceId, revision) {
      loads++
      await Promise.resolve()
      return await storage.configurationSince!(workspaceId, revision)
    },
  }
  const plugins = registry(kinds)
  const secrets = rowSecrets(
    { storage: counting, plugins, platform: portablePlatform, clock: fakeClock(), log: quiet },
    parseSettings({}),
  )
  const cache = configurationCache({
    storage: counting,
    plugins,
    platform: portablePlatform,
    clock: fakeClock(),
    log: quiet,
    secrets,
  })
  return { cache, storage: counting, loads: () => loads, posthorn: createTestPosthorn({ storage, plugins: kinds }) }
}

describe('the cache of configurations', () => {
  test('reads a workspace once for many that ask at once, and not again', async () => {
    const { cache, loads, posthorn } = counted()
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    const all = await Promise.all([1, 2, 3].map(() => cache.get('default')))
    expect(new Set(all).size).toBe(1)
    await cache.get('default')
    expect(loads()).toBe(1)
  })

  test('reads the entries of an endpoint once for each of its revisions', async () => {
    const { cache, posthorn, storage } = counted()
    for (const id of ['a', 'b']) {
      await posthorn.endpoints.create('default', { id, request: { url: 'https://a.test/' }, events: ['x.*'] })
    }
    const reads: string[] = []
    delete storage.configurationSince // as storages of others may have it: each read is whole
    const { configuration } = storage
    storage.configuration = async (workspaceId) => {
      const found = (await configuration(workspaceId))!
      const watched = ({ row, revision }: (typeof found.endpoints)[number]) => {
        const events = new Proxy(row.events, {
          get(target, key, receiver) {
            if (key === Symbol.iterator) reads.push(row.id)
            return Reflect.get(target, key, receiver) as unknown
          },
        })
        return { row: { ...row, events }, revision }
      }
      return { ...found, endpoints: found.endpoints.map(watched) }
    }
    await cache.fresh('default')
    await posthorn.endpoints.patch('default', 'b', { events: ['y.*'] })
    const { match } = (await cache.fresh('default'))!
    expect(reads).toEqual(['a', 'b', 'b'])
    expect([match('x.1'), match('y.1')].map(([one]) => one?.id)).toEqual(['a', 'b'])

    await posthorn.endpoints.patch('default', 'a', { events: ['z.*'] })
    cache.forget({ workspaceId: 'default' }) // as each write of this process does
    const later = (await cache.get('default'))!
    expect(reads).toEqual(['a', 'b', 'b', 'a'])
    expect([later.match('z.1'), later.match('y.1')].map(([one]) => one?.id)).toEqual(['a', 'b'])
  })

  test('answers null for a workspace that is not there', async () => {
    expect(await counted().cache.get('unknown')).toBeNull()
  })

  test('never answers a fresh question with a read that began before it', async () => {
    const { cache, posthorn } = counted()
    await posthorn.endpoints.create('default', { id: 'a', request: { url: 'https://a.test/' }, events: ['*'] })
    const early = cache.fresh('default')
    await posthorn.endpoints.create('default', { id: 'b', request: { url: 'https://b.test/' }, events: ['*'] })
    const late = await cache.fresh('default')
    await early
    expect([...late!.endpoints.keys()]).toEqual(['a', 'b'])
  })

  test('keeps no read that a write overtook: who asks after the write gets what was written', async () => {
    const { cache, storage, posthorn } = counted()
    await posthorn.endpoints.create('default', { id: 'a', request: { url: 'https://a.test/' }, events: ['*'] })
    const { configuration } = storage
    const reads: (() => void)[] = []
    storage.configuration = async (workspaceId) => {
      const found = await configuration(workspaceId)
      await new Promise<void>((resolve) => reads.push(resolve))
      return found
    }
    delete storage.configurationSince // the second read is whole too
    const release = async () => {
      await vi.waitFor(() => expect(reads).toHaveLength(1))
      reads.pop()!()
    }
    for (const change of [{ workspaceId: 'default' }, 'everything'] as const) {
      cache.forget('everything')
      const early = cache.get('default')
      await vi.waitFor(() => expect(reads).toHaveLength(1))
      const id = typeof change === 'string' ? 'b' : 'c'
      await posthorn.endpoints.create('default', { id, request: { url: 'https://b.test/' }, events: ['*'] })
      cache.forget(change)
      const late = cache.get('default')
      await release()
      expect((await early)!.endpoints.has(id)).toBe(false)
      expect(cache.held('default')).toBeUndefined()
      await release()
      expect((await late)!.endpoints.has(id)).toBe(true)
    }
  })

  test('reads again only for a revision it has not seen', async () => {
    const { cache, loads, posthorn } = counted()
    await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    const { revision } = (await cache.get('default'))!
    await cache.atLeast('default', revision)
    expect(loads()).toBe(1)
    await posthorn.endpoints.create('default', { request: { url: 'https://b.test/' }, events: ['*'] })
    expect((await cache.atLeast('default', revision + 1))!.endpoints.size).toBe(2)
    expect(loads()).toBe(2)
  })
})

describe('a plugin', () => {
  function counting() {
    const seen = { prepared: 0, closed: 0 }
    const kind = definePlugin({
      name: 'counting',
      sides: ['outbound'],
      config: object({}),
      prepare() {
        seen.prepared++
        return { close: () => void seen.closed++ }
      },
    })
    return { seen, kind }
  }

  test('is prepared once for each stored version, whatever else is written, and closed when it is replaced', async () => {
    const { seen, kind } = counting()
    const { cache, posthorn } = counted([kind])
    const { id } = await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' }, events: ['*'] })
    const plugin = await posthorn.plugins.create('default', { name: 'counting', endpoint_id: id })
    const prepare = async () => {
      const configuration = (await cache.fresh('default'))!
      for (const ready of configuration.pluginsOf(id)) await ready.prepared()
    }
    await prepare()
    await posthorn.endpoints.update('default', id, { name: 'renamed' })
    await prepare()
    expect(seen).toEqual({ prepared: 1, closed: 0 })
    await posthorn.plugins.update('default', plugin.id, { metadata: { a: 'b' } })
    await prepare()
    expect(seen).toEqual({ prepared: 2, closed: 1 })
    await posthorn.plugins.delete('default', plugin.id)
    await prepare()
    expect(seen).toEqual({ prepared: 2, closed: 2 })
  })

  test('whose kind is not registered here rejects, with one log line', async () => {
    const { kind } = counting()
    const errors: string[] = []
    const storage = await storageWith(kind)
    const plugins = registry([])
    const cache = configurationCache({
      storage,
      plugins,
      platform: portablePlatform,
      clock: fakeClock(),
      log: { ...quiet, error: (message) => void errors.push(message) },
      secrets: rowSecrets(
        { storage, plugins, platform: portablePlatform, clock: fakeClock(), log: quiet },
        parseSettings({}),
      ),
    })
    const [ready] = (await cache.get('default'))!.pluginsOf('endpoint')
    await expect(ready!.prepared()).rejects.toThrow("plugin 'counting' is not registered")
    await expect(ready!.prepared()).rejects.toThrow("plugin 'counting' is not registered")
    expect(errors).toHaveLength(1)
  })
})

/** A storage that holds a row of the kind, written by a process that knew it. */
async function storageWith(kind: PluginKind): Promise<Storage> {
  const storage = memory()
  const posthorn = createTestPosthorn({ storage, plugins: [kind] })
  await posthorn.endpoints.create('default', { id: 'endpoint', request: { url: 'https://a.test/' }, events: ['*'] })
  await posthorn.plugins.create('default', { name: 'counting', endpoint_id: 'endpoint' })
  return storage
}
