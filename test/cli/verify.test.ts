import { createHmac } from 'node:crypto'

import { expect, test } from 'vitest'

import { posthorn } from '../support/cli.ts'

const key = Buffer.alloc(32, 7)
const secret = `whsec_${key.toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

/** A recorded request that was signed `age` seconds ago. */
function recorded(body: string, { age = 0, eol = '\r\n' } = {}): string {
  const at = Math.floor(Date.now() / 1000) - age
  const signature = createHmac('sha256', key).update(`msg_1.${at}.${body}`).digest('base64')
  const headers = ['Webhook-Id: msg_1', `Webhook-Timestamp: ${at}`, `Webhook-Signature: v1,${signature}`]
  return ['POST /hooks HTTP/1.1', 'Host: shop.example', ...headers, '', body].join(eol)
}

const body = '{ "order": 7 }'
const wrongKey = 'No signature matches: the secret is that of another endpoint, or the body was changed on its way.'

test.each([
  ['the bytes as they came', recorded(body), [], 0, 'The signature holds.'],
  ['line ends of an editor', recorded(body, { eol: '\n' }), [], 0, 'The signature holds.'],
  ['one of two secrets', recorded(body), [other], 0, 'The signature holds.'],
  [
    'an old one',
    recorded(body, { age: 7200 }),
    [],
    1,
    'It was signed 2h ago, beyond the tolerance of 300 s; apart from that the signature holds.',
  ],
  ['one ahead', recorded(body, { age: -7200 }), [], 1, expect.stringMatching(/^It was signed 2h ahead of this clock/)],
  [
    'an old one that any age is right for',
    recorded(body, { age: 7200 }),
    ['--tolerance', '0'],
    0,
    'The signature holds.',
  ],
  ['another body', recorded(body).replace('"order": 7', '"order": 8'), [], 1, wrongKey],
  [
    'a line end at the end',
    `${recorded(body)}\n`,
    [],
    1,
    expect.stringMatching(/^A line end was added to the body\. The key is right/),
  ],
  [
    'a parsed body',
    recorded('{"order":7}').replace('{"order":7}', body),
    [],
    1,
    expect.stringMatching(/^The body was parsed and written anew/),
  ],
  [
    'no signature',
    recorded(body).replace(/Webhook-Signature.*\r\n/, ''),
    [],
    1,
    'Header webhook-signature is missing.',
  ],
] as const)('%s', async (_, input, more, code, message) => {
  const answer = await posthorn(['verify', '--secret', secret, ...more, '--json'], { input })
  expect([answer.code, (JSON.parse(answer.out) as { message: string }).message]).toEqual([code, message])
})

test('another key, a useless key, and input that is no request', async () => {
  const input = recorded(body)
  expect(await posthorn(['verify', '--secret', other], { input })).toMatchObject({ code: 1, out: `${wrongKey}\n` })
  expect((await posthorn(['verify', '--secret', 'short'], { input })).code).toBe(2)
  expect(await posthorn(['verify', '--secret', secret], { input: '{"order":7}' })).toMatchObject({
    code: 2,
    err: expect.stringContaining('this is no header'),
  })
})
