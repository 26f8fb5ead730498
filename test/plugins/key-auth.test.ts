import { describe, expect, test } from 'vitest'

import { keyAuth } from '../../src/plugins/key-auth.ts'
import { guard, refusal } from './fixtures.ts'

const config = { param_name: 'X-Api-Key', param_locations: ['header', 'query'], key: 'k-1234' }

describe('key-auth', () => {
  test('lets a request pass that carries the key in a named place', async () => {
    const send = await guard(keyAuth, config)
    expect(await send({ headers: { 'x-api-key': 'k-1234' } })).toBe(200)
    expect(await send({ path: '/in?X-Api-Key=k-1234' })).toBe(200)
    expect(await send({ path: '/in?X-Api-Key=k-1234', headers: { 'x-api-key': 'other' } })).toBe(200)
  })

  test('looks nowhere else', async () => {
    const header = await guard(keyAuth, { ...config, param_locations: ['header'] })
    expect(await header({ path: '/in?X-Api-Key=k-1234' })).toBe(401)
    const query = await guard(keyAuth, { ...config, param_locations: ['query'] })
    expect(await query({ headers: { 'x-api-key': 'k-1234' } })).toBe(401)
    expect(await query({ path: '/in?x-api-key=k-1234' })).toBe(401)
  })

  test('a key may hold any text', async () => {
    const send = await guard(keyAuth, { ...config, key: 'schlüssel & co' })
    expect(await send({ path: '/in?X-Api-Key=schl%C3%BCssel+%26+co' })).toBe(200)
    const onTheWire = Buffer.from('schlüssel & co').toString('latin1') // a header shows each byte as one character
    expect(await send({ headers: { 'x-api-key': onTheWire } })).toBe(200)
  })

  test.each([
    ['no key', {}],
    ['an empty key', { headers: { 'x-api-key': '' } }],
    ['another key', { headers: { 'x-api-key': 'k-1235' } }],
    ['a part of the key', { headers: { 'x-api-key': 'k-123' } }],
    ['a longer key', { headers: { 'x-api-key': 'k-12345' } }],
    [
      'the header twice',
      {
        headers: [
          ['x-api-key', 'k-1234'],
          ['x-api-key', 'k-1234'],
        ] as const,
      },
    ],
    ['the parameter twice', { path: '/in?X-Api-Key=k-1234&X-Api-Key=k-1234' }],
    ['a huge key', { headers: { 'x-api-key': 'k'.repeat(100_000) } }],
  ])('answers 401 to %s', async (_, request) => {
    const send = await guard(keyAuth, config)
    expect(await send(request)).toBe(401)
  })

  test('refuses a config that guards nothing', async () => {
    expect(await refusal(keyAuth, {})).toEqual({
      param_name: 'required field missing',
      param_locations: 'required field missing',
      key: 'required field missing',
    })
    expect(await refusal(keyAuth, { ...config, key: '', param_locations: [] })).toEqual({
      key: 'minimum string length is 1',
      param_locations: 'minimum number of items is 1',
    })
    expect(await refusal(keyAuth, { ...config, param_locations: ['header', 'cookie'] })).toEqual({
      param_locations: [null, 'value is not one of the allowed values ["header","query"]'],
    })
    expect(await refusal(keyAuth, { ...config, param_locations: ['query', 'query'] })).toEqual({
      param_locations: 'duplicate items found',
    })
  })

  test('refuses a name that no header can have, where a header is read', async () => {
    expect(await refusal(keyAuth, { ...config, param_name: 'api key' })).toEqual({ param_name: 'invalid header name' })
    expect(await refusal(keyAuth, { ...config, param_name: 'api key', param_locations: ['query'] })).toBeNull()
  })
})
