import { describe, expect, test } from 'vitest'

import { basicAuth } from '../../src/plugins/basic-auth.ts'
import { guard, refusal } from './fixtures.ts'

const config = { username: 'posthorn', password: 'pass:word' }

function basic(credentials: string, scheme = 'Basic'): { headers: Record<string, string> } {
  return { headers: { authorization: `${scheme} ${Buffer.from(credentials).toString('base64')}` } }
}

describe('basic-auth', () => {
  test('lets a request with the credentials pass; the scheme may be written in any case', async () => {
    const send = await guard(basicAuth, config)
    expect(await send(basic('posthorn:pass:word'))).toBe(200)
    expect(await send(basic('posthorn:pass:word', 'basic'))).toBe(200)
  })

  test('reads credentials as UTF-8', async () => {
    const send = await guard(basicAuth, { username: 'zoë', password: '🐎' })
    expect(await send(basic('zoë:🐎'))).toBe(200)
  })

  test.each([
    ['no header', {}],
    ['another password', basic('posthorn:password')],
    ['another user', basic('Posthorn:pass:word')],
    ['a part of the password', basic('posthorn:pass:wor')],
    ['more than the password', basic('posthorn:pass:word ')],
    ['nothing', basic('')],
    ['another scheme', basic('posthorn:pass:word', 'Bearer')],
    ['no scheme', { headers: { authorization: Buffer.from('posthorn:pass:word').toString('base64') } }],
    ['what is not base64', { headers: { authorization: 'Basic posthorn:pass:word' } }],
    [
      'the header twice',
      {
        headers: [
          ...Object.entries(basic('posthorn:pass:word').headers),
          ...Object.entries(basic('posthorn:pass:word').headers),
        ],
      },
    ],
    ['a huge header', basic('x'.repeat(100_000))],
  ])('answers 401 to %s', async (_, request) => {
    const send = await guard(basicAuth, config)
    expect(await send(request)).toBe(401)
  })

  test('refuses a config without its strings', async () => {
    expect(await refusal(basicAuth, {})).toEqual({
      username: 'required field missing',
      password: 'required field missing',
    })
    expect(await refusal(basicAuth, { username: 1, password: null })).toEqual({
      username: 'value must be a string',
      password: 'Value is not nullable',
    })
  })
})
