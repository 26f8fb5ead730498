import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { memoryTransaction } from '../../src/testing/memory-transaction.ts'
import { attempt, endpoint, entry, event, everything, ids, made } from '../../src/testing/storage/rows.ts'

const stored = [{ kind: 'stored' }]

async function begun() {
  const storage = memory()
  const revision = await made(storage, 'w')
  const tx = memoryTransaction()
  const bound = storage.using!(tx)
  const list = async (of: typeof bound | typeof storage) => ids((await of.events.list('w', everything)).rows)
  const ingest = (of: typeof bound | typeof storage, id: string, unique_id: string | null = null) =>
    of.events.ingest([entry('w', revision, event(id, { unique_id }), [attempt(`t${id}`, id)])], { enqueue: true })
  return { storage, tx, bound, list, ingest }
}

test('what is written in a transaction is seen there alone until it is committed', async () => {
  const { storage, tx, bound, list, ingest } = await begun()
  expect(await ingest(bound, 'e')).toEqual(stored)
  expect(await bound.endpoints.insert('w', endpoint('ep'))).toBe('written')
  expect(await list(bound)).toEqual(['e'])
  expect(await list(storage)).toEqual([])
  expect((await storage.queue.stats(0)).size).toBe(0)
  await tx.commit()
  expect(await list(storage)).toEqual(['e'])
  expect((await storage.endpoints.get('w', 'ep'))?.row.id).toBe('ep')
  expect((await storage.queue.stats(0)).size).toBe(1)
})

test('a rollback leaves nothing', async () => {
  const { storage, tx, bound, list, ingest } = await begun()
  await ingest(bound, 'e', 'u')
  await tx.rollback()
  await tx.rollback()
  expect(await list(storage)).toEqual([])
  expect(await ingest(storage, 'f', 'u')).toEqual(stored)
})

test('it is a transaction until it ends, and refuses to be used after that', async () => {
  const { tx, bound, ingest } = await begun()
  expect(await bound.inTransaction()).toBe(true)
  await tx.commit()
  expect(await bound.inTransaction()).toBe(false)
  await expect(ingest(bound, 'e')).rejects.toMatchObject({ code: 'transaction_required' })
  await expect(tx.commit()).rejects.toThrow('the transaction has ended')
})

test('anything else in its place is refused', () => {
  expect(() => memory().using!({ query: () => {} })).toThrow(expect.objectContaining({ code: 'transaction_required' }))
})

test('what others write meanwhile is seen in it and stays', async () => {
  const { storage, tx, bound, list, ingest } = await begun()
  await ingest(bound, 'b')
  await ingest(storage, 'a')
  expect(await list(bound)).toEqual(['a', 'b'])
  await ingest(storage, 'c')
  await tx.commit()
  expect(await list(storage)).toEqual(['a', 'b', 'c'])
})

test('a configuration that moved on does not undo what was published before', async () => {
  const { storage, tx, bound, list, ingest } = await begun()
  expect(await ingest(bound, 'e')).toEqual(stored)
  await storage.endpoints.insert('w', endpoint('ep'))
  await tx.commit()
  expect(await list(storage)).toEqual(['e'])
})

test('a repeated unique_id is an answer, in it and before it', async () => {
  const { storage, bound, ingest } = await begun()
  await ingest(storage, 'a', 'u')
  await ingest(bound, 'b', 'v')
  expect(await ingest(bound, 'c', 'u')).toMatchObject([{ kind: 'duplicate', event: { id: 'a' } }])
  expect(await ingest(bound, 'd', 'v')).toMatchObject([{ kind: 'duplicate', event: { id: 'b' } }])
})

test('publishing a unique_id that an open transaction holds waits for it', async () => {
  for (const end of ['commit', 'rollback'] as const) {
    const { storage, tx, bound, ingest } = await begun()
    await ingest(bound, 'a', 'u')
    let answered = false
    const other = ingest(storage, 'b', 'u').then((answers) => {
      answered = true
      return answers
    })
    await ingest(storage, 'c', 'another')
    expect(answered).toBe(false)
    await tx[end]()
    expect(await other).toMatchObject([{ kind: end === 'commit' ? 'duplicate' : 'stored' }])
  }
})

test('a commit that conflicts with what others wrote fails whole', async () => {
  const { storage, tx, bound, list, ingest } = await begun()
  await ingest(bound, 'e')
  await bound.endpoints.insert('w', endpoint('mine', { name: 'n' }))
  await storage.endpoints.insert('w', endpoint('theirs', { name: 'n' }))
  await expect(tx.commit()).rejects.toThrow('conflicts')
  expect(tx.open).toBe(false)
  expect(await list(storage)).toEqual([])
})

test('listeners hear of it with the commit, and not at all with `wake: false`', async () => {
  const { storage, tx, bound, ingest } = await begun()
  let woken = 0
  await storage.queue.onAdded!(() => woken++)
  await ingest(bound, 'a')
  expect(woken).toBe(0)
  await tx.commit()
  expect(woken).toBe(1)

  const quiet = memoryTransaction()
  await ingest(storage.using!(quiet, { wake: false }), 'b')
  await quiet.commit()
  expect(woken).toBe(1)
  expect((await storage.queue.stats(0)).size).toBe(2)
})
