import { expect, onTestFinished, test } from 'vitest'

import { createPosthorn } from '../../adapters/node/index.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { receiver } from '../node/receiver.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

test('deliveries that wait for a process longer than they may are made later, and fail for nothing but their function', async () => {
  const { url } = await receiver((_request, response) => void response.end())
  const posthorn = createPosthorn({ plugins: [functionPlugin()], deliver: { allow: ['127.0.0.1'] }, logger })
  onTestFinished(() => posthorn.stop({ timeoutMs: 0 }))
  async function endpoint(id: string, code: string, timeout: number) {
    await posthorn.endpoints.create('default', {
      id,
      request: { url, timeout },
      events: [id],
      retry: { config: { attempts: [0] } },
    })
    await posthorn.plugins.create('default', {
      endpoint_id: id,
      name: 'function',
      config: { function: `function handle() { ${code} }` },
    })
  }
  const loops = ['loop1', 'loop2', 'loop3', 'loop4']
  for (const id of loops) await endpoint(id, 'for (;;);', 10_000)
  // Its time is much less than the loops make it wait.
  await endpoint('fine', '', 1500)
  for (let i = 0; i < 2; i++)
    for (const id of loops) await posthorn.events.create('default', { event_type: id, data: {} })
  for (let i = 0; i < 10; i++) await posthorn.events.create('default', { event_type: 'fine', data: {} })
  await posthorn.start()

  const attempts = async (endpoint_id: string) =>
    (await posthorn.attempts.list('default', { endpoint_id, limit: 100 })).data
  await expect
    .poll(async () => new Set((await attempts('fine')).map(({ status }) => status)), { timeout: 90_000, interval: 200 })
    .toEqual(new Set(['SUCCESSFUL']))
  expect(await attempts('fine')).toHaveLength(10)
  const looping = (await Promise.all(loops.map(attempts))).flat()
  const ended = looping.filter(({ status }) => status !== 'QUEUED')
  expect(ended.length).toBeGreaterThan(0)
  expect(new Set(ended.map(({ error_message }) => error_message))).toEqual(
    new Set(['the function exceeded its time limit']),
  )
}, 120_000)
