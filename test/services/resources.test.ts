import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const url = 'https://example.com/hook'

describe('writers of several processes', () => {
  /** An instance over shared storage in which somebody else writes just before the first `times` updates of an endpoint. */
  function disturbed(times: number) {
    const storage = memory()
    const other = createTestPosthorn({ storage })
    let left = times
    let tries = 0
    const endpoints: Storage['endpoints'] = {
      ...storage.endpoints,
      async update(workspaceId, row, from) {
        tries++
        if (left-- > 0) await other.endpoints.update(workspaceId, row.id, { description: `other ${left}` })
        return await storage.endpoints.update(workspaceId, row, from)
      },
    }
    return { posthorn: createTestPosthorn({ storage: { ...storage, endpoints } }), tries: () => tries }
  }

  test('lose nothing of one another', async () => {
    const { posthorn, tries } = disturbed(5)
    await posthorn.endpoints.create('default', { id: 'e', request: { url } })
    const row = await posthorn.endpoints.update('default', 'e', { name: 'mine' })
    expect(row).toMatchObject({ name: 'mine', description: 'other 0' })
    expect(tries()).toBe(6)
  })

  test('are told to come again when others write too fast', async () => {
    const { posthorn, tries } = disturbed(Infinity)
    await posthorn.endpoints.create('default', { id: 'e', request: { url } })
    await expect(posthorn.endpoints.update('default', 'e', { name: 'mine' })).rejects.toMatchObject({
      code: 'overloaded',
    })
    expect(tries()).toBe(6)
    // The turn was given on.
    await expect(posthorn.endpoints.get('default', 'e')).resolves.toMatchObject({ name: null })
  })

  test('a failed write does not hold up the next', async () => {
    const { endpoints } = createTestPosthorn()
    await endpoints.create('default', { id: 'e', request: { url } })
    const [bad, good] = await Promise.allSettled([
      endpoints.update('default', 'e', { events: [''] }),
      endpoints.update('default', 'e', { events: ['a'] }),
    ])
    expect([bad?.status, good?.status]).toEqual(['rejected', 'fulfilled'])
  })
})

describe('inputs from code', () => {
  test('may be frozen rows that came back', async () => {
    const { endpoints } = createTestPosthorn()
    const row = await endpoints.create('default', { request: { url }, events: ['a'] as const })
    const copy = await endpoints.create('default', { ...row, id: 'copy' })
    expect(copy).toEqual({ ...row, id: 'copy', created_at: copy.created_at, updated_at: copy.updated_at })
  })

  test('are not written to, and neither are stored rows by who holds the answer', async () => {
    const { endpoints } = createTestPosthorn()
    const events = ['a']
    const row = await endpoints.create('default', { id: 'e', request: { url }, events })
    events.push('b')
    expect((await endpoints.get('default', row.id)).events).toEqual(['a'])
  })

  test('that are no objects are refused, not tripped over', async () => {
    const { endpoints, workspaces, config } = createTestPosthorn()
    for (const input of [undefined, null, 5, 'x', []]) {
      // A host without types may pass anything.
      await expect(endpoints.create('default', input as never)).rejects.toMatchObject({ code: 'validation' })
      await expect(workspaces.create(input as never)).rejects.toMatchObject({ code: 'validation' })
      await expect(config.sync('default', input as never)).rejects.toMatchObject({ code: 'validation' })
    }
  })

  test('of an unknown workspace are refused by its name', async () => {
    const { endpoints } = createTestPosthorn()
    await expect(endpoints.create('nope', { request: { url } })).rejects.toMatchObject({
      code: 'unknown_workspace',
      message: 'workspace "nope" does not exist; create it with workspaces.create({ id: "nope" })',
    })
  })
})

describe("a host's own plugin", () => {
  let made = 0
  const stamp = definePlugin({
    name: 'stamp',
    sides: ['outbound', 'inbound'],
    config: v.object({ token: v.string(), color: v.optional(v.string(), 'red') }),
    fill: (config) => ({ ...config, token: config['token'] ?? `made ${++made}` }),
    verify: async ({ color }) => (color === 'grey' ? { color: 'too dull' } : null),
    prepare: () => ({}),
  })

  test('is filled, checked and verified when written', async () => {
    const { endpoints, plugins, sources } = createTestPosthorn({ plugins: [stamp] })
    await endpoints.create('default', { id: 'e', request: { url } })
    await sources.create('default', { id: 's', config: {} })
    const row = await plugins.create('default', { name: 'stamp', endpoint_id: 'e' })
    expect(row.config).toEqual({ token: expect.stringMatching(/^made/), color: 'red' })
    const updated = await plugins.update('default', row.id, { config: { color: 'blue' } })
    expect(updated.config).toEqual({ token: row.config['token'], color: 'blue' })
    await expect(plugins.update('default', row.id, { config: { color: 'grey' } })).rejects.toMatchObject({
      fields: { config: { color: 'too dull' } },
    })
    await expect(plugins.create('default', { name: 'stamp' })).rejects.toMatchObject({
      fields: { source_id: "source_id is required for plugin 'stamp'" },
    })
    await expect(plugins.create('default', { name: 'stamp', source_id: 's', endpoint_id: 'e' })).rejects.toMatchObject({
      fields: { endpoint_id: "endpoint_id is not allowed for plugin 'stamp'" },
    })
    await expect(plugins.create('default', { name: 'stamp', source_id: 's' })).resolves.toMatchObject({
      source_id: 's',
    })
  })

  test('that is not registered here can be listed and deleted', async () => {
    const storage = memory()
    const knowing = createTestPosthorn({ storage, plugins: [stamp] })
    await knowing.endpoints.create('default', { id: 'e', request: { url } })
    const { id } = await knowing.plugins.create('default', { name: 'stamp', endpoint_id: 'e' })
    const { plugins } = createTestPosthorn({ storage })
    expect(await plugins.list('default')).toMatchObject({ total: 1 })
    await plugins.delete('default', id)
    expect(await plugins.list('default')).toMatchObject({ total: 0 })
  })
})
