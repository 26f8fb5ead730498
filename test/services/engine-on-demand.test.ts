import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { engineOnDemand } from '../../src/services/engine-on-demand.ts'
import { memoryTransaction } from '../../src/testing/memory-transaction.ts'
import { attempt, entry, event, everything, ids, made } from '../../src/testing/storage/rows.ts'

function counted(fails = 0) {
  let loads = 0
  const engine = engineOnDemand({ name: 'memory', inProcess: true }, async () => {
    if (++loads <= fails) throw new Error('the chunk cannot be fetched')
    return memory()
  })
  return { engine, loads: () => loads }
}

test('an engine is not loaded before something is asked of it, and once however many ask', async () => {
  const { engine, loads } = counted()
  const { name, inProcess } = memory()
  expect([engine.name, engine.inProcess, loads()]).toEqual([name, inProcess, 0])
  await Promise.all([engine.ping(), engine.queue.stats(0), engine.workspaces.find('default')])
  await engine.inbox.size()
  expect(loads()).toBe(1)
})

test('one that could not be loaded is loaded anew for whom asks next', async () => {
  const { engine, loads } = counted(1)
  await expect(engine.ping()).rejects.toThrow('the chunk cannot be fetched')
  await expect(engine.ping()).resolves.toBeUndefined()
  expect(loads()).toBe(2)
})

test('a handle on a transaction is there at once, and obeys it', async () => {
  const { engine } = counted()
  const tx = memoryTransaction()
  const bound = engine.using(tx)
  const revision = await made(engine, 'w')
  expect(await bound.inTransaction()).toBe(true)
  const one = entry('w', revision, event('e'), [attempt('a', 'e')])
  expect(await bound.events.ingest([one], { enqueue: true })).toEqual([{ kind: 'stored' }])
  expect(ids((await engine.events.list('w', everything)).rows)).toEqual([])
  await tx.commit()
  expect(ids((await engine.events.list('w', everything)).rows)).toEqual(['e'])
  expect((await engine.queue.stats(0)).size).toBe(1)
})

test('what is no transaction is refused by the first call', async () => {
  const { engine } = counted()
  await expect(engine.using({}).inTransaction()).rejects.toMatchObject({ code: 'transaction_required' })
})
