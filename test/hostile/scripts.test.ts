import { afterAll, expect, test } from 'vitest'

import { nodePlatform } from '../../adapters/node/platform.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { inboundContext, inboundRequest } from '../plugins/fixtures.ts'
import { makeRandom } from './random.ts'
import { owners, redefining } from './scripts.ts'

const plugin = functionPlugin()
const random = makeRandom(1)
const request = inboundRequest({ body: '{"event_type":"a","data":{}}' })

async function run(script: string): Promise<string> {
  const prepared = await plugin.prepare({ function: script }, nodePlatform)
  closes.push(() => prepared.close?.())
  try {
    const answer = await prepared.inbound!(request, inboundContext())
    return answer instanceof Response ? String(answer.status) : 'passed'
  } catch (cause) {
    return (cause as Error).message
  }
}
const closes: (() => void)[] = []
afterAll(() => {
  for (const close of closes) close()
})

test.each(owners)('a script that redefines %s fills no memory of the host and harms no later run', async (owner) => {
  const before = process.memoryUsage()
  for (let i = 0; i < 2; i++) expect(await run(redefining(owner, random))).toEqual(expect.any(String))
  expect(await run('function handle() { webhookx.response.exit([1, 2].map((n) => n).length === 2 ? 201 : 500) }')).toBe(
    '201',
  )
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  expect(heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(100 * 1024 * 1024)
})
