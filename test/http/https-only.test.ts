import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { api, refusal } from './api.ts'

const rule = 'value must be an https URL'
const https = { request: { url: 'https://example.com/' } }
const http = { request: { url: 'http://example.com/' } }

test('deliver.httpsOnly refuses http urls in every way to write an endpoint', async () => {
  const { call, made } = api({ deliver: { httpsOnly: true } })
  const answer = { status: 400, body: refusal({ request: { url: rule } }) }
  expect(await call('POST', '/endpoints', http)).toMatchObject(answer)
  const { id } = await made('/endpoints', { ...https, name: 'a' })
  expect(await call('PUT', `/endpoints/${id}`, http)).toMatchObject(answer)
  const synced = await call('POST', '/config/sync', {
    endpoints: [
      { name: 'a', ...https },
      { name: 'b', ...http, plugins: [{ name: 'none' }] },
    ],
  })
  expect(synced).toMatchObject({
    status: 400,
    body: refusal({
      endpoints: [null, { request: { url: rule }, plugins: [{ name: "unknown plugin name 'none'" }] }],
    }),
  })
})

test('an endpoint that has its http url already can still be changed', async () => {
  const storage = memory()
  const before = api({ storage })
  const { id } = await before.made('/endpoints', { ...http, name: 'a' })
  const { call } = api({ storage, deliver: { httpsOnly: true } })
  expect(await call('PUT', `/endpoints/${id}`, { enabled: false })).toMatchObject({ status: 200 })
  expect(await call('POST', '/config/sync', { endpoints: [{ name: 'a', ...http }] })).toMatchObject({ status: 200 })
  expect(await call('PUT', `/endpoints/${id}`, { request: { url: 'http://example.com/other' } })).toMatchObject({
    status: 400,
  })
})

test('without it http urls are taken', async () => {
  await api().made('/endpoints', http)
})
