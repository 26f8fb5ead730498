import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../src/index.ts'
import { memoryLog } from './api.ts'

test('a page of long rows is written in slices, and is the text that its rows make', async () => {
  let time = 0
  let turns = 0
  // Each look at the clock takes 2 ms, so that a slice is three rows.
  const clock = {
    system: false,
    now: () => 1_767_225_600_000,
    elapsed: () => (time += 2),
    sleep: async () => void turns++,
  }
  const posthorn = createPosthorn({ storage: memory(), clock, logger: memoryLog() })
  for (let i = 0; i < 60; i++) {
    const headers = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x-${n}`, 'é'.repeat(100)]))
    await posthorn.endpoints.create('default', { name: `é${i}`, request: { url: 'https://a.test/', headers } })
  }
  for (const query of ['page_size=1000', 'limit=50', 'page_size=2']) {
    turns = 0
    const answer = await posthorn.admin.fetch(new Request(`http://admin/endpoints?${query}`))
    const text = await answer.text()
    expect(text).toBe(JSON.stringify(JSON.parse(text)))
    const rows = query === 'page_size=1000' ? 60 : query === 'limit=50' ? 50 : 2
    expect((JSON.parse(text) as { data: unknown[] }).data).toHaveLength(rows)
    expect(turns).toBeGreaterThanOrEqual(Math.floor(rows / 3) - 1)
  }
  const listed = await posthorn.endpoints.list('default', { limit: 1000 })
  const answer = await posthorn.admin.fetch(new Request('http://admin/endpoints?limit=1000'))
  expect(await answer.json()).toEqual({ ...listed, next: null, prev: null })
})
