import { expect, test, vi } from 'vitest'

import { ParsingTurns } from '../../src/runtime/parsing-turns.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

/** Each text takes 1.5 ms. Turns end when `turn` is called, and sleeps are noted. */
function made() {
  let now = 0
  const slept: number[] = []
  const ends: (() => void)[] = []
  const done: string[] = []
  const parsing = new ParsingTurns({
    elapsed: () => now,
    async sleep(ms) {
      slept.push(ms)
      now += ms
    },
    afterTurn: (go) => void ends.push(go),
  })
  const parse = async (name: string, bytes = 2000) =>
    await parsing.run(name[0]!, bytes, () => {
      now += 1.5
      done.push(name)
      if (name.endsWith('!')) throw new Error(`malformed ${name}`)
      return name
    })
  const turn = async () => {
    for (const go of ends.splice(0)) go()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { parse, turn, slept, done }
}

test('texts beyond two milliseconds wait until the event loop was free as long as it was held', async () => {
  const { parse, turn, slept, done } = made()
  const all = [parse('a1'), parse('a2'), parse('a3'), parse('a4'), parse('a5')]
  expect(done).toEqual(['a1', 'a2'])
  await turn()
  expect(slept).toEqual([3])
  expect(done).toEqual(['a1', 'a2', 'a3', 'a4'])
  await turn()
  await turn()
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  expect(slept).toEqual([3, 3])
})

test('tenants whose texts wait take turns, and a text that cannot be parsed harms no other', async () => {
  const { parse, turn, done } = made()
  const all = ['a1', 'a2', 'a3!', 'a4', 'b1', 'c1'].map((name) => parse(name))
  const ends = Promise.allSettled(all)
  for (let i = 0; i < 4; i++) await turn()
  expect(done).toEqual(['a1', 'a2', 'a3!', 'b1', 'c1', 'a4'])
  expect((await ends).map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true, true])
})

test('short texts never wait', async () => {
  const { parse, done, slept } = made()
  await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => parse(name, 1000)))
  expect(done).toHaveLength(4)
  expect(slept).toEqual([])
})

test('bodies of the gateway and of the administrative API are parsed so, each for its workspace', async () => {
  const run = vi.spyOn(ParsingTurns.prototype, 'run')
  const posthorn = createTestPosthorn()
  await posthorn.workspaces.create({ id: 'acme' })
  await posthorn.sources.create('acme', { config: { http: { path: '/in' } } })
  const data = { text: 'é'.repeat(40_000) }
  const body = JSON.stringify({ event_type: 'x', data })
  const post = (handler: { fetch(request: Request): Promise<Response> }, path: string) =>
    Promise.all(
      Array.from({ length: 20 }, () => handler.fetch(new Request(`https://host${path}`, { method: 'POST', body }))),
    )
  const answers = [...(await post(posthorn.gateway, '/in')), ...(await post(posthorn.admin, '/workspaces/acme/events'))]
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 20 }, () => 200),
    ...Array.from({ length: 20 }, () => 201),
  ])
  const { data: events } = await posthorn.events.list('acme', { limit: 100 })
  expect(events).toHaveLength(40)
  expect(events.every((event) => JSON.stringify(event.data) === JSON.stringify(data))).toBe(true)
  const length = Buffer.byteLength(body)
  expect(run.mock.calls.filter(([tenant, bytes]) => tenant === 'acme' && bytes === length)).toHaveLength(20)
  expect(run.mock.calls.filter(([tenant, bytes]) => tenant === 'acme' && bytes === body.length)).toHaveLength(20)
  run.mockRestore()
})
