import { describe, expect, test } from 'vitest'

import { createPosthorn } from '../../src/index.ts'
import { api } from './api.ts'

const host = 'hooks.example:8080'

/** The status of a request with these headers to an API that is reached as `hooks.example:8080`. */
async function status(headers: Readonly<Record<string, string>>, admin = {}): Promise<number> {
  const { call } = api({ admin })
  return (await call('GET', '/endpoints', undefined, { host, ...headers })).status
}

describe('a request that a foreign page makes a browser send is refused', () => {
  test.each<[string, Record<string, string>, number]>([
    ['no header of a browser', {}, 200],
    ['same-origin', { 'sec-fetch-site': 'same-origin' }, 200],
    ['none: typed by the user', { 'sec-fetch-site': 'none' }, 200],
    ['cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['same-site: another port or subdomain', { 'sec-fetch-site': 'same-site' }, 403],
    ['a word that we do not know', { 'sec-fetch-site': 'new' }, 403],
    ['the site counts more than the origin', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, 200],
    ['and the other way round', { 'sec-fetch-site': 'same-site', origin: `http://${host}` }, 403],
    ['our own origin', { origin: `http://${host}` }, 200],
    ['the same behind TLS that ends before us', { origin: `https://${host}` }, 200],
    ['in capitals', { origin: 'HTTP://HOOKS.EXAMPLE:8080' }, 200],
    ['another port', { origin: 'http://hooks.example:8081' }, 403],
    ['no port', { origin: 'http://hooks.example' }, 403],
    ['another host', { origin: 'http://evil.example:8080' }, 403],
    ['a host that begins alike', { origin: 'http://hooks.example.evil.example:8080' }, 403],
    ['null', { origin: 'null' }, 403],
    ['no origin at all', { origin: 'x' }, 403],
    ['a scheme that is none of ours', { origin: `ftp://${host}` }, 403],
    ['a default port counts as none', { host: 'hooks.example:443', origin: 'https://hooks.example' }, 200],
    ['form and text bodies are not judged', { 'content-type': 'text/plain' }, 200],
  ])('%s', async (_name, headers, expected) => {
    expect(await status(headers)).toBe(expected)
  })

  test('but not of a page of an allowed origin', async () => {
    const admin = { allowedOrigins: ['https://Console.example', 'http://localhost:3000'] }
    expect(await status({ origin: 'https://console.example', 'sec-fetch-site': 'cross-site' }, admin)).toBe(200)
    expect(await status({ origin: 'http://localhost:3000' }, admin)).toBe(200)
    expect(await status({ origin: 'http://localhost:3001' }, admin)).toBe(403)
    expect(await status({ origin: 'https://console.example.evil.example' }, admin)).toBe(403)
    expect(await status({ 'sec-fetch-site': 'cross-site' }, admin)).toBe(403)
  })

  test('the origin may be that of publicUrl, where a proxy changes Host', async () => {
    const admin = { publicUrl: 'https://api.example/hooks' }
    expect(await status({ origin: 'https://api.example' }, admin)).toBe(200)
    expect(await status({ origin: 'https://api.example:8443' }, admin)).toBe(403)
    expect(await status({ origin: `http://${host}` }, admin)).toBe(200)
  })

  test('where the request has no Host header, its url tells the host', async () => {
    const posthorn = createPosthorn()
    const ask = async (origin: string) =>
      (await posthorn.admin.fetch(new Request('http://hooks.example/endpoints', { headers: { origin } }))).status
    expect(await ask('http://hooks.example')).toBe(200)
    expect(await ask('http://evil.example')).toBe(403)
  })
})

describe('allowedHosts', () => {
  const admin = { allowedHosts: ['127.0.0.1', 'localhost', 'hooks.example:8080', '[::1]'] }

  test.each([
    ['127.0.0.1:9601', 200],
    ['localhost', 200],
    ['LOCALHOST:1', 200],
    ['hooks.example:8080', 200],
    ['[::1]:9601', 200],
    ['hooks.example', 403],
    ['hooks.example:8081', 403],
    ['evil.example:9601', 403],
    ['localhost.evil.example', 403],
  ])('%s is %i', async (name, expected) => {
    expect(await status({ host: name }, admin)).toBe(expected)
  })

  test('a rebound name is refused whatever the browser says', async () => {
    const rebound = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' }
    expect(await status(rebound, admin)).toBe(403)
  })
})

test('options that are no origin, url or host are refused', () => {
  for (const [admin, field] of [
    [{ allowedOrigins: ['https://a.example/path'] }, 'allowedOrigins'],
    [{ allowedOrigins: ['a.example'] }, 'allowedOrigins'],
    [{ publicUrl: 'a.example' }, 'publicUrl'],
    [{ allowedHosts: [''] }, 'allowedHosts'],
  ] as const) {
    expect(() => createPosthorn({ admin })).toThrow(field)
  }
})
