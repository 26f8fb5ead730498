import { expect, test } from 'vitest'

import { createPosthorn } from '../../src/index.ts'
import { onEveryEngine } from '../support/engines.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

onEveryEngine((fresh) => {
  test('pages answer cursors, and each takes every row once, in both orders', async () => {
    const posthorn = createPosthorn({ storage: await fresh(), logger: silent, admin: { basePath: '/ops' } })
    const ids = ['a', 'b', 'c', 'd', 'e']
    for (const id of ids) await posthorn.events.create('default', { id, event_type: 'x', data: { id } })

    const first = await posthorn.events.list('default', { limit: 2 })
    expect(first).toMatchObject({ data: [{ id: 'e' }, { id: 'd' }], next: 'd', prev: null })
    const second = await posthorn.events.list('default', { limit: 2, after: 'd' })
    expect(second).toMatchObject({ data: [{ id: 'c' }, { id: 'b' }], next: 'b', prev: 'c' })

    for (const [sort, expected] of [
      ['id.asc', ids],
      ['id.desc', ids.toReversed()],
    ] as const) {
      const seen: string[] = []
      for await (const { id, data } of posthorn.events.each('default', { sort, limit: 2 })) {
        expect(data).toEqual({ id })
        seen.push(id)
      }
      expect(seen).toEqual(expected)
    }
    const http = await posthorn.admin.fetch(new Request('http://x/ops/events?limit=2'))
    expect(await http.json()).toMatchObject({ next: '/ops/events?after=d&limit=2' })
  })

  test('a page of events by its number that is larger than 16 MiB is refused, not cut', async () => {
    const posthorn = createPosthorn({ storage: await fresh(), logger: silent })
    const text = 'x'.repeat(4 * 1024 * 1024)
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await posthorn.events.create('default', { id, event_type: 'x', data: { text } })
    }
    await expect(posthorn.events.list('default', { page_size: 5 })).rejects.toMatchObject({
      code: 'validation',
      fields: { '@params': ['page_size: the page is larger than 16 MiB, ask for fewer rows or use limit'] },
    })
    const ids = async (query: object) => (await posthorn.events.list('default', query)).data.map(({ id }) => id)
    expect(await ids({ page_size: 4 })).toEqual(['e', 'd', 'c', 'b'])
    expect(await ids({ page_size: 4, page_no: 2 })).toEqual(['a'])
    expect(await ids({ page_size: 5, page_no: 2 })).toEqual([])
    expect(await ids({ limit: 5 })).toEqual(['e', 'd', 'c', 'b'])
    expect(await ids({ limit: 5, after: 'b' })).toEqual(['a'])
  })
})

test('each reads the next page only when its rows are asked for, and throws what the list throws', async () => {
  const posthorn = createPosthorn({ logger: silent })
  for (let i = 0; i < 5; i++) await posthorn.endpoints.create('default', { request: { url: 'https://a.test/' } })
  const taken: string[] = []
  for await (const { id } of posthorn.endpoints.each('default', { limit: 2 })) {
    taken.push(id)
    if (taken.length === 3) break
  }
  expect(new Set(taken).size).toBe(3)
  const nowhere = posthorn.endpoints.each('nowhere')[Symbol.asyncIterator]()
  await expect(nowhere.next()).rejects.toMatchObject({ code: 'unknown_workspace' })
})
