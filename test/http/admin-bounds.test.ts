import { describe, expect, test } from 'vitest'

import { api, url } from './api.ts'

describe('the answer to a wrong body is bounded', () => {
  test('by a hundred reasons, and how many others there are', async () => {
    const { call } = api()
    const endpoints = Array.from({ length: 1000 }, () => ({ name: 'a', request: { url: 5 } }))
    const { status, body } = await call('POST', '/config/sync', { endpoints })
    expect(status).toBe(400)
    expect(body.error.fields.endpoints).toHaveLength(100)
    expect(body.error['...']).toBe('900 more')
  })

  test('also where plugins and identities are checked, after the schema', async () => {
    const { call } = api()
    const endpoints = Array.from({ length: 150 }, (_, i) => ({
      name: `n${i}`,
      request: { url },
      plugins: [{ name: 'x' }],
    }))
    const { body } = await call('POST', '/config/sync', { endpoints })
    expect(body.error.fields.endpoints).toHaveLength(100)
    expect(body.error['...']).toBe('50 more')
  })

  test('a hundred are told whole, without that line', async () => {
    const { call } = api()
    const endpoints = Array.from({ length: 100 }, () => ({ name: 'a', request: { url: 5 } }))
    const { body } = await call('POST', '/config/sync', { endpoints })
    expect(body.error.fields.endpoints).toHaveLength(100)
    expect(Object.keys(body.error)).toEqual(['message', 'fields'])
  })
})
