import { expect, test } from 'vitest'

import type { PosthornError } from '../../src/errors.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { onEveryEngine } from '../support/engines.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const none = { events_per_second: null, retention_days: null, endpoints: null }
const hourMs = 3_600_000
const request = { url: 'https://shop.test/hooks' }

onEveryEngine((fresh) => {
  async function started() {
    const storage = await fresh()
    const [posthorn, second] = [1, 2].map(() => createTestPosthorn({ logger: silent, storage })) as [
      ReturnType<typeof createTestPosthorn>,
      ReturnType<typeof createTestPosthorn>,
    ]
    return { posthorn, second }
  }
  const event = { event_type: 'x', data: {} }

  test('limits are null unless they are set, and are patched one by one', async () => {
    const { posthorn } = await started()
    const made = await posthorn.workspaces.create({ id: 'acme' })
    expect(made.limits).toEqual(none)
    expect(Object.keys(made).at(-1)).toBe('limits')
    await posthorn.workspaces.patch('acme', { limits: { endpoints: 2 } })
    const { limits } = await posthorn.workspaces.patch('acme', { limits: { retention_days: 3 } })
    expect(limits).toEqual({ ...none, endpoints: 2, retention_days: 3 })
    const wrong = posthorn.workspaces.update('acme', { limits: { retention_days: 0, endpoints: 1.5 } })
    await expect(wrong).rejects.toMatchObject({
      fields: { limits: { retention_days: 'number must be at least 1', endpoints: 'value must be an integer' } },
    })
  })

  test('above the rate events are refused, to the event, by all processes together', async () => {
    const { posthorn, second } = await started()
    await posthorn.workspaces.create({ id: 'acme', limits: { events_per_second: 10 } })
    await posthorn.workspaces.create({ id: 'free' })
    const burst = async () => {
      const asked = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? posthorn : second).events.create('acme', event))
      const answers = await Promise.allSettled(asked)
      const refused = answers.flatMap((answer) =>
        answer.status === 'rejected' ? [answer.reason as PosthornError] : [],
      )
      expect(refused.every(({ code, retryAfterMs }) => code === 'rate_limited' && retryAfterMs! <= 100)).toBe(true)
      return answers.length - refused.length
    }
    expect(await burst()).toBe(10)
    await Promise.all(Array.from({ length: 40 }, () => posthorn.events.create('free', event)))
    for (const one of [posthorn, second]) await one.clock.advance(500)
    expect(await burst()).toBe(5)
    expect((await posthorn.events.list('acme', { page_size: 100 })).data).toHaveLength(15)
  })

  test('a limit that was changed elsewhere is obeyed', async () => {
    const { posthorn, second } = await started()
    await posthorn.workspaces.create({ id: 'acme', limits: { events_per_second: 0 } })
    await expect(second.events.create('acme', event)).rejects.toMatchObject({ code: 'rate_limited' })
    await second.clock.advance(2000)
    await posthorn.workspaces.patch('acme', { limits: { events_per_second: null } })
    await second.events.create('acme', event)
    await posthorn.workspaces.patch('acme', { limits: { events_per_second: 1 } })
    await second.events.create('acme', event) // notices the write
    await second.events.create('acme', event)
    await expect(second.events.create('acme', event)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('API and gateway answer 429 with Retry-After, and nothing is stored', async () => {
    const { posthorn } = await started()
    await posthorn.workspaces.create({ id: 'acme', limits: { events_per_second: 1 } })
    for (const async of [false, true]) {
      await posthorn.sources.create('acme', { async, config: { http: { path: `/in/${async}` } } })
    }
    const ask = async (face: 'admin' | 'gateway', path: string) => {
      const body = JSON.stringify(event)
      return await posthorn[face].fetch(new Request(`http://posthorn.test${path}`, { method: 'POST', body }))
    }
    expect((await ask('gateway', '/in/false')).status).toBe(200)
    const places = [
      ['gateway', '/in/false'],
      ['gateway', '/in/true'],
      ['admin', '/workspaces/acme/events'],
    ] as const
    for (const [face, path] of places) {
      const answer = await ask(face, path)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await answer.json()).toEqual({ message: 'rate limit exceeded' })
    }
    await posthorn.drain()
    expect((await posthorn.events.list('acme')).data).toHaveLength(1)
  })

  test('events older than the retention of their workspace are removed, those of others stay', async () => {
    const { posthorn } = await started()
    await posthorn.workspaces.create({ id: 'acme', limits: { retention_days: 2 } })
    await posthorn.endpoints.create('acme', { request, events: ['*'] })
    await posthorn.events.create('default', event)
    await posthorn.events.create('acme', event)
    await posthorn.drain()
    await posthorn.clock.advance(36 * hourMs)
    await posthorn.events.create('acme', event)
    await posthorn.drain()
    await posthorn.clock.advance(24 * hourMs)
    await posthorn.tick()
    const left = async (workspace: string) => (await posthorn.events.list(workspace)).data.length
    expect([await left('acme'), await left('default')]).toEqual([1, 1])
    expect((await posthorn.attempts.list('acme')).data).toHaveLength(1)
  })

  test('a tick without time left removes some of each such workspace', async () => {
    const { posthorn } = await started()
    for (const id of ['acme', 'zeta']) {
      await posthorn.workspaces.create({ id, limits: { retention_days: 2 } })
      await posthorn.events.create(id, event)
    }
    await posthorn.drain()
    await posthorn.clock.advance(60 * hourMs)
    await posthorn.tick({ budgetMs: 0 })
    for (const id of ['acme', 'zeta']) expect((await posthorn.events.list(id)).data).toHaveLength(0)
  })

  test('a workspace has no more endpoints than its limit, whoever writes', async () => {
    const { posthorn, second } = await started()
    await posthorn.workspaces.create({ id: 'acme', limits: { endpoints: 3 } })
    const many = Array.from({ length: 8 }, (_, n) =>
      (n % 2 === 0 ? posthorn : second).endpoints.create('acme', { request }),
    )
    const answers = await Promise.allSettled(many)
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const document = { endpoints: [1, 2, 3, 4].map((n) => ({ id: `e${n}`, request })) }
    await expect(posthorn.config.sync('acme', document)).rejects.toMatchObject({ code: 'validation' })
    await posthorn.workspaces.patch('acme', { limits: { endpoints: 4 } })
    expect((await posthorn.config.sync('acme', document)).endpoints).toMatchObject({ created: 4, deleted: 3 })
  })

  test('creates at once in one workspace look up its limits a few times at most, so that other tenants keep their connections', async () => {
    const storage = await fresh()
    let lookups = 0
    const workspaces: typeof storage.workspaces = {
      ...storage.workspaces,
      get(id) {
        lookups++
        return storage.workspaces.get(id)
      },
    }
    const posthorn = createTestPosthorn({ logger: silent, storage: { ...storage, workspaces } })
    await posthorn.workspaces.create({ id: 'acme', limits: { endpoints: 30 } })
    lookups = 0
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, () => posthorn.endpoints.create('acme', { request })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
    expect(lookups).toBeLessThanOrEqual(4)
  })
})
