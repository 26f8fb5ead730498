import { expect, test } from 'vitest'

import { prefersJson } from '../../src/http/accept.ts'
import { api } from './api.ts'

test.each([
  [null, false],
  ['*/*', false],
  ['application/json', true],
  ['APPLICATION/JSON; charset=utf-8', true],
  ['application/*', false], // YAML is as welcome
  ['text/plain', false],
  ['application/yaml', false],
  ['application/json, text/plain', false],
  ['application/json, */*', true],
  ['*/*, application/*', false],
  ['application/json, text/plain, */*', false],
  ['application/json, text/plain;q=0.9', true],
  ['application/json;q=0.5, text/*;q=0.9', false],
  ['application/json;q=0.5, */*;q=0.1', true],
  ['application/json;q=0, */*', false],
  ['application/json;q=nonsense', false],
  ['text/html', false],
])('Accept %s', (accept, json) => {
  expect(prefersJson(new URLSearchParams(), accept)).toBe(json)
  // What the address asks comes first.
  expect(prefersJson(new URLSearchParams('format=json'), accept)).toBe(true)
  expect(prefersJson(new URLSearchParams('format=yaml'), accept)).toBe(false)
})

test('a dump is what is asked for, and another format is refused', async () => {
  const { call } = api()
  const type = async (query: string, accept: string) =>
    (await call('POST', `/config/dump${query}`, undefined, { accept })).headers.get('content-type')
  expect(await type('', 'application/json')).toMatch(/^application\/json/)
  expect(await type('', '*/*')).toMatch(/^text\/plain/)
  expect(await type('?format=json', '*/*')).toMatch(/^application\/json/)
  expect(await type('?format=yaml', 'application/json')).toMatch(/^text\/plain/)
  expect((await call('POST', '/config/dump?format=xml')).body).toMatchObject({
    error: { fields: { '@params': ['format: value is not one of the allowed values ["json","yaml"]'] } },
  })
})
