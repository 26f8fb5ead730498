import { describe, expect, test } from 'vitest'

import { memory } from '../../../adapters/memory/index.ts'
import type { Storage } from '../../../src/contracts/storage.ts'
import type { SecretsOptions } from '../../../src/options.ts'
import { createTestPosthorn } from '../../../src/testing/test-posthorn.ts'
import { memoryLog } from '../../http/api.ts'
import { onEveryEngine } from '../../support/engines.ts'
import { keyNamed, storedText, testProvider } from './keys.ts'

const url = 'https://shop.test/hooks'
const old = keyNamed('2026-11', 1)
const next = keyNamed('2026-12', 2)

function open(storage: Storage, secrets?: SecretsOptions) {
  return createTestPosthorn({ storage, logger: memoryLog(), ...(secrets && { secrets }) })
}

/** Endpoints with a secret header, each with a signature: two values each. */
async function shops(posthorn: ReturnType<typeof open>, count: number, workspace = 'default') {
  for (let i = 0; i < count; i++) {
    const headers = { authorization: `Bearer of shop number ${i}, a long one` }
    const endpoint = { id: `${workspace}-${i}`, request: { url, headers }, events: ['*'] }
    await posthorn.endpoints.create(workspace, endpoint)
    await posthorn.plugins.create(workspace, { name: 'standard-webhooks', endpoint_id: endpoint.id })
  }
}

onEveryEngine((fresh) => {
  test('reseal seals what is in clear and what other keys sealed, and changes nothing that users see', async () => {
    const storage = await fresh()
    await shops(open(storage), 2)
    const first = open(storage, { keys: [old] })
    await first.workspaces.create({ id: 'other' })
    await shops(first, 3, 'other')
    const posthorn = open(storage, { keys: [next, old] })
    expect(await posthorn.secrets.status()).toEqual({
      seals_with: '2026-12',
      keys: [{ id: '2026-11', values: 6, known: true }],
      clear: 4,
    })
    const before = [
      await posthorn.config.dump('default', { secrets: 'clear' }),
      await posthorn.config.dump('other', { secrets: 'clear' }),
      await posthorn.endpoints.list('default'),
    ]
    expect(await posthorn.secrets.reseal()).toEqual({ workspaces: 2, resealed: 10, left: 0, problems: [] })
    expect(await posthorn.secrets.status()).toEqual({
      seals_with: '2026-12',
      keys: [{ id: '2026-12', values: 10, known: true }],
      clear: 0,
    })
    const alone = open(storage, { keys: [next] })
    const after = [
      await alone.config.dump('default', { secrets: 'clear' }),
      await alone.config.dump('other', { secrets: 'clear' }),
      await alone.endpoints.list('default'),
    ]
    expect(after).toEqual(before)
    expect(await posthorn.secrets.reseal()).toEqual({ workspaces: 2, resealed: 0, left: 0, problems: [] })
  })
})

describe('reseal', () => {
  test('goes on where a crash left it', async () => {
    const storage = memory()
    await shops(open(storage, { keys: [old] }), 150)
    let writes = 0
    const dying: Storage = {
      ...storage,
      async applyConfig(plan, from) {
        if (++writes > 1) throw new Error('the process is gone')
        return await storage.applyConfig(plan, from)
      },
    }
    await expect(open(dying, { keys: [next, old] }).secrets.reseal()).rejects.toThrow('the process is gone')
    const posthorn = open(storage, { keys: [next, old] })
    const { keys } = await posthorn.secrets.status()
    expect(keys.map(({ id, values }) => [id, values])).toEqual([
      ['2026-11', 200],
      ['2026-12', 100],
    ])
    expect(await posthorn.secrets.reseal()).toMatchObject({ resealed: 200, left: 0 })
    expect((await posthorn.secrets.status()).keys).toEqual([{ id: '2026-12', values: 300, known: true }])
  })

  test('loses no write that comes between', async () => {
    const storage = memory()
    await shops(open(storage, { keys: [old] }), 20)
    const posthorn = open(storage, { keys: [next, old] })
    const beside = open(storage, { keys: [old, next] })
    await Promise.all([
      posthorn.secrets.reseal(),
      beside.secrets.status(),
      ...Array.from({ length: 20 }, (_, i) =>
        beside.endpoints.update('default', `default-${i}`, { name: `shop ${i}` }),
      ),
    ])
    await posthorn.secrets.reseal()
    const { data } = await posthorn.endpoints.list('default', { limit: 50 })
    expect(new Set(data.map(({ name }) => name))).toEqual(new Set(Array.from({ length: 20 }, (_, i) => `shop ${i}`)))
    expect((await posthorn.secrets.status()).keys).toEqual([{ id: '2026-12', values: 40, known: true }])
  })

  test('passes over what it cannot open, and tells', async () => {
    const storage = memory()
    await shops(open(storage, { keys: [old] }), 2)
    const before = await storedText(storage)
    const posthorn = open(storage, { keys: [next] })
    expect((await posthorn.secrets.status()).keys).toEqual([{ id: '2026-11', values: 4, known: false }])
    expect(await posthorn.secrets.reseal()).toEqual({
      workspaces: 1,
      resealed: 0,
      left: 4,
      problems: ["workspace default: a secret is sealed with key '2026-11', which this process does not have"],
    })
    expect(await storedText(storage)).toBe(before)
  })

  test('moves to a provider with one call for each workspace', async () => {
    const storage = memory()
    await shops(open(storage, { keys: [old] }), 3)
    const kms = testProvider()
    const posthorn = open(storage, { keys: [old], provider: kms.provider })
    expect(await posthorn.secrets.reseal()).toMatchObject({ resealed: 6 })
    expect(kms.calls).toEqual(['wrap default'])
  })

  test('needs the option, and the status does not', async () => {
    const storage = memory()
    await shops(open(storage), 1)
    const posthorn = open(storage)
    expect(await posthorn.secrets.status()).toEqual({ seals_with: null, keys: [], clear: 2 })
    await expect(posthorn.secrets.reseal()).rejects.toMatchObject({ code: 'validation' })
  })
})
