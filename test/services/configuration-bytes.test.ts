import { expect, test } from 'vitest'

import { refuseCut } from '../../src/services/listing.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const full = {
  code: 'validation',
  message: expect.stringContaining(
    'maximum number of bytes of endpoints, sources and plugins of a workspace is 100000',
  ) as string,
}
/** With about 10,000 bytes of JSON. */
const metadata = { a: 'é'.repeat(2450), b: 'é'.repeat(2450) }
const endpoint = { request: { url: 'https://shop.test/hooks' }, metadata }
const sourceAt = (path: string) => ({ config: { http: { path } }, metadata })

onEveryEngine((fresh) => {
  async function started(count = 1) {
    const storage = await fresh()
    const all = Array.from({ length: count }, () =>
      createTestPosthorn({ logger: silent, storage, limits: { bytes: 100_000 } }),
    )
    await all[0]!.workspaces.create({ id: 'acme' })
    await all[0]!.workspaces.create({ id: 'other' })
    return all as [(typeof all)[0], ...typeof all]
  }

  test('rows of all kinds are as long together as limits.bytes allow, and nothing of a write beyond is made', async () => {
    const [posthorn] = await started()
    for (let i = 0; i < 5; i++) await posthorn.endpoints.create('acme', endpoint)
    const source = await posthorn.sources.create('acme', sourceAt('/a'))
    const secret = `whsec_${'A'.repeat(32)}`
    await posthorn.plugins.create('acme', {
      name: 'standard-webhooks',
      endpoint_id: (await posthorn.endpoints.list('acme')).data[0]!.id,
      config: { secrets: [secret] },
      metadata,
    })
    for (let i = 0; i < 2; i++) await posthorn.endpoints.create('acme', endpoint)
    await expect(posthorn.endpoints.create('acme', endpoint)).rejects.toMatchObject(full)
    await expect(posthorn.sources.create('acme', sourceAt('/b'))).rejects.toMatchObject(full)
    const longer = { ...metadata, c: 'é'.repeat(3000), d: 'é'.repeat(3000) }
    await expect(posthorn.sources.patch('acme', source.id, { metadata: longer })).rejects.toMatchObject(full)
    expect((await posthorn.sources.list('acme')).data).toEqual([source])
    expect((await posthorn.endpoints.list('acme')).data).toHaveLength(7)
    await posthorn.endpoints.create('other', endpoint)

    await posthorn.sources.patch('acme', source.id, { metadata: { a: 'short' } })
    await posthorn.endpoints.create('acme', endpoint)
    await expect(posthorn.endpoints.create('acme', endpoint)).rejects.toMatchObject(full)
    await posthorn.sources.delete('acme', source.id)
    await posthorn.endpoints.delete('acme', (await posthorn.endpoints.list('acme')).data[0]!.id)
    await posthorn.endpoints.create('acme', endpoint)
  })

  test('a config sync is judged by what the workspace has afterwards, in a dry run too', async () => {
    const [posthorn] = await started()
    const document = (count: number) => ({
      endpoints: Array.from({ length: count }, (_, i) => ({ ...endpoint, name: `e${i}` })),
    })
    await posthorn.config.sync('acme', document(9))
    await posthorn.config.sync('acme', {
      endpoints: document(9).endpoints.map((each, i) => ({ ...each, name: `f${i}` })),
    })
    await expect(posthorn.config.sync('acme', document(11), { dryRun: true })).rejects.toMatchObject(full)
    await expect(posthorn.config.sync('acme', document(11))).rejects.toMatchObject(full)
    expect((await posthorn.endpoints.list('acme')).data.map(({ name }) => name)).toContain('f8')
  })

  test('writes that come side by side do not pass together', async () => {
    const [posthorn] = await started()
    const made = await Promise.allSettled(Array.from({ length: 30 }, () => posthorn.endpoints.create('acme', endpoint)))
    const count = made.filter(({ status }) => status === 'fulfilled').length
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThan(10)
    expect((await posthorn.endpoints.list('acme', { page_size: 100 })).data).toHaveLength(count)
  })

  test('several processes go beyond by an eighth each at most', async () => {
    const all = await started(3)
    let made = 0
    for (let i = 0; i < 60; i++) {
      await all[i % 3]!.endpoints.create('acme', endpoint).then(
        () => made++,
        () => {},
      )
    }
    expect(made).toBeGreaterThanOrEqual(9)
    expect(made).toBeLessThanOrEqual(12)
  })

  test('what is beyond the limit already stays, can be changed, and can shrink', async () => {
    const storage = await fresh()
    const before = createTestPosthorn({ logger: silent, storage })
    await before.workspaces.create({ id: 'acme' })
    const rows = []
    for (let i = 0; i < 12; i++) rows.push(await before.endpoints.create('acme', endpoint))
    const posthorn = createTestPosthorn({ logger: silent, storage, limits: { bytes: 100_000 } })
    const long = { ...metadata, c: 'é'.repeat(2400) } // longer than an eighth of the limit
    const another = { ...sourceAt('/a'), metadata: long }
    await expect(posthorn.sources.create('acme', another)).rejects.toMatchObject(full)
    await posthorn.endpoints.patch('acme', rows[0]!.id, { enabled: true })
    await posthorn.endpoints.patch('acme', rows[0]!.id, { metadata: { a: 'short' } })
  })

  test('pages of long rows end early: with a cursor they go on there, and a numbered page is refused', async () => {
    const storage = await fresh()
    const posthorn = createTestPosthorn({ logger: silent, storage })
    await posthorn.workspaces.create({ id: 'acme' })
    const long = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, '😀'.repeat(4096)])) // 1.6 MB
    for (let i = 0; i < 5; i++) await posthorn.endpoints.create('acme', { ...endpoint, name: `e${i}`, metadata: long })
    const first = await posthorn.endpoints.list('acme', { limit: 10, sort: 'id.asc' })
    const second = await posthorn.endpoints.list('acme', { limit: 10, sort: 'id.asc', after: first.next! })
    expect(first.data.map(({ name }) => name)).toEqual(['e0', 'e1', 'e2'])
    expect(second.data.map(({ name }) => name)).toEqual(['e3', 'e4'])
    expect(second.next).toBeNull()
    await expect(posthorn.endpoints.list('acme', { page_size: 10 })).rejects.toMatchObject({
      code: 'validation',
      fields: { '@params': ['page_size: the page is larger than 4 MiB, ask for fewer rows or use limit'] },
    })
    expect((await posthorn.endpoints.list('acme', { page_size: 2, page_no: 3 })).data).toHaveLength(1)
  })
})

test('a numbered page that storage cut is refused though its rows are shorter as shown; one whose rows went meanwhile is not', () => {
  const page = { rows: ['a', 'b'], total: 10, preceded: false, followed: true }
  const asked = { page: 1, limit: 10, after: null, before: null, descending: true }
  const judged = (shown: number) => () => refuseCut(page, asked, { max: 100, bytes: () => shown })
  expect(judged(90)).toThrow('request validation')
  expect(judged(20)).not.toThrow()
})
