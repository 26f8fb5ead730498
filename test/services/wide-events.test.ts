import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../src/index.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { WorkTurns } from '../../src/runtime/work-turns.ts'
import { onEveryEngine } from '../support/engines.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const url = 'https://shop.test/hooks'
const idOf = (n: number) => `ep${String(n).padStart(4, '0')}`

/** An instance whose workspace `wide` has many endpoints that want each event, and the most attempts that were read at once. */
async function withEndpoints(storage: Storage, count: number) {
  const read = { most: 0 }
  const { attempts } = storage
  const watched: Storage = {
    ...storage,
    attempts: {
      ...attempts,
      async ofEvents(...asked) {
        const rows = await attempts.ofEvents(...asked)
        read.most = Math.max(read.most, rows.length)
        return rows
      },
    },
  }
  const posthorn = createPosthorn({ storage: watched, logger: silent })
  await posthorn.workspaces.create({ id: 'wide' })
  const endpoints = Array.from({ length: count }, (_, n) => ({ id: idOf(n), request: { url }, events: ['*'] }))
  await posthorn.config.sync('wide', { endpoints })
  return { posthorn, read }
}

onEveryEngine((fresh) => {
  test('the deliveries of events for a thousand endpoints are read a page at a time, both ways', async () => {
    const { posthorn, read } = await withEndpoints(await fresh(), 1000)
    for (const id of ['a', 'b', 'c']) await posthorn.events.create('wide', { id, event_type: 'x', data: {} })
    const expected = ['c', 'b', 'a'].flatMap((event) =>
      Array.from({ length: 1000 }, (_, n) => `${event} ${idOf(999 - n)}`),
    )
    const seen: string[] = []
    let page = await posthorn.deliveries.list('wide', { limit: 700 })
    for (; ; page = await posthorn.deliveries.list('wide', { limit: 700, after: page.next })) {
      seen.push(...page.data.map(({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`))
      if (page.next === null) break
    }
    expect(seen).toEqual(expected)
    const back = await posthorn.deliveries.list('wide', { limit: 700, before: page.prev! })
    expect(back.data.map(({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`)).toEqual(
      expected.slice(2100, 2800),
    )
    const few = await posthorn.deliveries.list('wide', { limit: 2, event_id: 'b' })
    expect(few.data.map(({ endpoint_id }) => endpoint_id)).toEqual(['ep0999', 'ep0998'])
    expect(read.most).toBeLessThanOrEqual(1000)
    expect((await posthorn.deliveries.get('wide', 'b', 'ep0500')).attempts).toHaveLength(1)
  })
})

test('other work of the process gets turns between the events of a batch for a thousand endpoints', async () => {
  const { posthorn } = await withEndpoints(memory(), 1000)
  let turns = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
  })()
  const inputs = Array.from({ length: 100 }, (_, n) => ({ event_type: 'x', data: { n } }))
  const answers = await posthorn.events.createMany('wide', inputs)
  isOver = true
  await others
  expect(answers.filter((answer) => 'error' in answer)).toEqual([])
  expect(turns).toBeGreaterThan(5)
})

test('work beyond two milliseconds of a turn waits for the next, where tenants take turns', async () => {
  let now = 0
  let turns = 0
  const afterTurn = (go: () => void): void => {
    setImmediate(() => {
      turns++
      go()
    })
  }
  const work = new WorkTurns({ elapsed: () => now, sleep: async () => {}, afterTurn }, { rests: false })
  const done: string[] = []
  const piece = (name: string) => () => {
    now += 1.5 // milliseconds
    done.push(name)
    if (name === 'a3') throw new Error('failed')
    return name
  }
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map(async (name) => await work.run(name[0]!, piece(name)))
  expect(done).toEqual(['a1', 'a2'])
  expect(turns).toBe(0)
  const ends = await Promise.allSettled(all)
  expect(ends.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true, true])
  expect(done).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'a5'])
  const last = ['a6', 'a7', 'a8', 'a9'].map(async (name) => await work.run('a', piece(name)))
  await work.idle()
  expect(done).toHaveLength(10)
  await Promise.all(last)
})
