import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { intercepted } from '../../src/testing/intercept.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

test('a process that publishes many events at once before it knows their workspace asks for it twice at most', async () => {
  let asked = 0
  const storage = intercepted(memory(), async (name, call) => {
    if (name === 'workspaces.find') asked++
    await Promise.resolve()
    return await call()
  })
  const posthorn = createTestPosthorn({ storage })
  const published = await Promise.all(
    Array.from({ length: 100 }, (_, n) => posthorn.events.create('default', { event_type: 'x', data: { n } })),
  )
  expect(new Set(published.map(({ id }) => id)).size).toBe(100)
  expect(asked).toBeLessThanOrEqual(2)
})

test('an unknown workspace is unknown to each of those who ask at once', async () => {
  const posthorn = createTestPosthorn()
  const publish = () => posthorn.events.create('nowhere', { event_type: 'x', data: {} })
  for (const one of [publish(), publish(), publish()])
    await expect(one).rejects.toThrow('workspace "nowhere" does not exist')
})
