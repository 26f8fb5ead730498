import { setImmediate as turn } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { ReadingTurns } from '../../src/runtime/reading-turns.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const { signal } = new AbortController()

/** Reads that end when they are told to. */
function made() {
  const reading = new ReadingTurns()
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const read = (name: string, until = signal) =>
    reading.run(name[0]!, until, async () => {
      begun.push(name)
      await new Promise<void>((end) => ends.set(name, end))
      if (name.endsWith('!')) throw new Error('failed')
      return name
    })
  const end = async (name: string) => {
    ends.get(name)!()
    await turn()
  }
  return { read, begun, end }
}

test('a workspace reads one at a time, four read at once, and those that wait take turns', async () => {
  const { read, begun, end } = made()
  const all = ['a1', 'a2!', 'a3', 'b1', 'c1', 'd1', 'e1', 'b2'].map((name) => read(name).catch(() => 'failed'))
  await turn()
  expect(begun).toEqual(['a1', 'b1', 'c1', 'd1'])
  await end('a1')
  expect(begun.slice(4)).toEqual(['a2!'])
  await end('a2!') // what fails frees the place too
  expect(begun.slice(5)).toEqual(['e1'])
  for (const name of ['b1', 'c1', 'd1', 'e1']) await end(name)
  for (const name of ['a3', 'b2']) await end(name)
  expect(await Promise.all(all)).toEqual(['a1', 'failed', 'a3', 'b1', 'c1', 'd1', 'e1', 'b2'])
  const last = read('a4')
  await turn()
  await end('a4')
  expect(await last).toBe('a4')
})

test('a read whose client has gone is not made, and one beyond the share of its workspace is refused', async () => {
  const { read, begun, end } = made()
  const first = read('a1')
  const gone = new AbortController()
  const second = read('a2', gone.signal).catch(({ code }: { code: string }) => code)
  const others = Array.from({ length: 1000 }, (_, i) => read(`a${i + 3}`).catch(({ code }: { code: string }) => code))
  gone.abort()
  await end('a1')
  expect(await second).toBe('unavailable')
  expect(begun).toEqual(['a1', 'a3'])
  for (let i = 3; begun.includes(`a${i}`); i++) await end(`a${i}`)
  const answers = await Promise.all(others)
  expect(await first).toBe('a1')
  expect(answers.filter((answer) => answer === 'overloaded').length).toBeGreaterThan(200)
  expect(answers.filter((answer) => answer !== 'overloaded').length).toBeGreaterThan(500)
})

test('lists over HTTP are read so, each for its workspace, and rows by id are not', async () => {
  const storage = memory()
  let now = 0
  let most = 0
  const posthorn = createTestPosthorn({
    storage: {
      ...storage,
      attempts: {
        ...storage.attempts,
        async list(...asked) {
          most = Math.max(most, ++now)
          await turn()
          now--
          return await storage.attempts.list(...asked)
        },
      },
    },
  })
  for (const id of ['acme', 'other']) await posthorn.workspaces.create({ id })
  const ask = (path: string) => posthorn.admin.fetch(new Request(`https://host/workspaces/${path}`))
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('acme/attempts')))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(most).toBe(1)
  await Promise.all(Array.from({ length: 20 }, (_, i) => ask(`${i % 2 === 0 ? 'acme' : 'other'}/attempts`)))
  expect(most).toBe(2)
})
