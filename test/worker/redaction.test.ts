import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { PosthornError } from '../../src/errors.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { anyObject } from '../../src/schema/fields.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'

const base64 = (text: string) => Buffer.from(text.padEnd(32, '-')).toString('base64')
const secrets = {
  authorization: 'Bearer endpoint-authorization-7f3a',
  apiKey: 'endpoint-x-api-key-7f3b',
  token: 'endpoint-x-shop-token-7f3c',
  cookie: 'endpoint-cookie-7f3d',
  password: 'basic-auth-password-7f3e',
  key: 'key-auth-key-7f3f',
  hmac: 'hmac-auth-secret-7f40',
  github: 'connect-auth-secret-7f41',
  signing: 'webhookx-signing-secret-7f42',
  whsec: `whsec_${base64('standard-webhooks-secret-7f43')}`,
  code: 'function-code-secret-7f44',
}
const patient = 60_000

/** A run in which everything goes wrong that can, and all that anybody may read of it but the configuration itself. */
async function wholeOutput(): Promise<string> {
  const output: string[] = []
  const say = (...parts: unknown[]) => {
    for (const part of parts)
      output.push(typeof part === 'string' ? part : inspect(part, { depth: 20, showHidden: true }))
  }
  const logger = { debug: say, info: say, warn: say, error: say }

  const store = memory()
  let broken = false
  /** What drivers do: the row or the command, with all that is in it, hangs on the error. */
  const driverError = () =>
    new PosthornError('internal', 'the engine refused a statement', {
      cause: Object.assign(new Error('constraint violated'), {
        detail: `Failing row contains (${Object.values(secrets).join(', ')})`,
        command: { name: 'eval', args: Object.values(secrets) },
      }),
    })
  const failing =
    <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> =>
      broken ? Promise.reject(driverError()) : call(...args)
  const storage = {
    ...store,
    stats: failing(store.stats),
    ping: failing(store.ping),
    plugins: { ...store.plugins, insert: failing(store.plugins.insert) },
    events: { ...store.events, ingest: failing(store.events.ingest) },
  }
  const faulty = definePlugin({
    name: 'faulty',
    sides: ['outbound'],
    config: anyObject(),
    prepare: () => ({
      outbound() {
        throw new Error('the plugin broke')
      },
    }),
  })
  const posthorn = createTestPosthorn({
    storage,
    logger,
    plugins: [functionPlugin(), faulty],
    deliver: { redactHeaders: ['Authorization', 'x-api-key', 'x-shop-token', 'cookie'] },
  })
  for (const name of ['event', 'attempt', 'exhausted', 'endpoint.disabled'] as const) posthorn.on(name, say)

  const admin = async (method: string, path: string, body?: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await posthorn.admin.fetch(
      new Request(`http://admin.test${path}`, { method, ...(body !== undefined && { body: text }) }),
    )
    if (response.status >= 400) say(await response.text())
    return response.status
  }
  const url = 'https://shop.test/hooks'
  const headers = {
    Authorization: secrets.authorization,
    'X-Api-Key': secrets.apiKey,
    'X-Shop-Token': secrets.token,
    Cookie: secrets.cookie,
  }
  const endpoint = {
    id: 'shop',
    name: 'shop',
    request: { url, headers },
    events: ['*'],
    retry: { config: { attempts: [0, 1, 1, 1] } },
  }
  await posthorn.endpoints.create('default', endpoint)
  const outbound = [
    { name: 'webhookx-signature', config: { signing_secret: secrets.signing } },
    { name: 'standard-webhooks', config: { secrets: [secrets.whsec] } },
  ]
  for (const plugin of outbound) expect(await admin('POST', '/plugins', { ...plugin, endpoint_id: 'shop' })).toBe(201)
  const code = `const key = '${secrets.code}'\nfunction handle() { webhookx.utils.hmac('SHA-256', key, 'x'); throw new Error('no') }`
  const inbound = [
    { name: 'basic-auth', config: { username: 'user', password: secrets.password } },
    { name: 'key-auth', config: { param_name: 'key', param_locations: ['header'], key: secrets.key } },
    { name: 'hmac-auth', config: { signature_header: 'x-signature', secret: secrets.hmac } },
    { name: 'connect-auth', config: { provider: 'github', provider_config: { secret: secrets.github } } },
    { name: 'function', config: { function: code } },
  ]
  const body = '{"event_type":"x","data":{}}'
  for (const [i, plugin] of inbound.entries()) {
    await posthorn.sources.create('default', { id: `source-${i}`, config: { http: { path: `/${i}` } } })
    expect(await admin('POST', '/plugins', { ...plugin, source_id: `source-${i}` })).toBe(201)
    const response = await posthorn.gateway.fetch(new Request(`http://gateway.test/${i}`, { method: 'POST', body }))
    expect(response.status).toBeGreaterThanOrEqual(400)
    say(await response.text())
  }

  // Deliveries that fail in every way, and one that does not.
  const publish = () => posthorn.events.create('default', { event_type: 'x', data: {} })
  posthorn.receiver(url).answers(500, 'reset', 'hang', { status: 503, headers: { 'retry-after': '5' } }, 200)
  const { id } = await publish()
  await posthorn.advance('1h')
  await publish()
  await posthorn.drain()
  await admin('POST', '/plugins', { name: 'faulty', endpoint_id: 'shop', config: {} })
  await publish()
  await posthorn.advance('1h')

  // Refusals of what holds secrets.
  const duplicate = { ...outbound[0], endpoint_id: 'shop' }
  expect(await admin('POST', '/plugins', duplicate)).toBe(400)
  expect(await admin('POST', '/plugins', { ...inbound[0], endpoint_id: 'shop' })).toBe(400)
  expect(await admin('POST', '/plugins', { ...inbound[0], config: { password: secrets.password } })).toBe(400)
  expect(await admin('POST', '/plugins', { ...outbound[1], config: { secrets: [`${secrets.whsec}!`] } })).toBe(400)
  expect(await admin('POST', '/endpoints', { ...endpoint, id: 'again' })).toBe(400)
  expect(await admin('POST', '/endpoints', { request: { url: `ftp://${secrets.password}`, headers } })).toBe(400)
  expect(await admin('POST', '/endpoints', { request: { url, headers: { host: secrets.token } } })).toBe(400)
  expect(
    await admin('POST', '/plugins', { name: 'function', source_id: 'source-0', config: { function: `${code}{` } }),
  ).toBe(400)
  const twice = { sources: [{ name: 's', config: {}, plugins: [inbound[0], inbound[0]] }] }
  expect(await admin('POST', '/config/sync', twice)).toBe(400)
  expect(await admin('POST', '/config/sync', `sources:\n  - {config: "${secrets.password}"\n`)).toBe(400)

  // An engine whose errors carry all they were given.
  broken = true
  await publish().catch(say)
  await posthorn.plugins.create('default', { ...outbound[0]!, endpoint_id: 'shop' }).catch(() => {})
  expect(await admin('POST', '/plugins', { ...inbound[1], source_id: 'source-0' })).toBe(500)
  for (const path of ['/', '/health', '/metrics']) {
    const response = await posthorn.statusHandler.fetch(new Request(`http://status.test${path}`))
    say(await response.text())
  }
  broken = false
  say(await posthorn.status(), await posthorn.health(), await posthorn.events.explain('default', id))
  const { data } = await posthorn.attempts.list('default', { limit: 100 })
  for (const attempt of data) say(await posthorn.attempts.get('default', attempt.id))
  expect(data.map(({ error_code }) => error_code)).toEqual(
    expect.arrayContaining([null, 'TIMEOUT', 'UNKNOWN', 'PLUGIN_ERROR']),
  )
  expect(posthorn.deliveries.every((delivery) => delivery.headers['x-shop-token'] === secrets.token)).toBe(true)
  return output.join('\n')
}

test(
  'no secret is in anything that a run tells: logs, errors, answers, signals, reports and records',
  async () => {
    const output = await wholeOutput()
    expect(output).toContain('the plugin broke')
    expect(output).toContain('constraint violated')
    expect(output).toContain("'x-shop-token': '***'")
    const told = Object.entries(secrets).filter(([, secret]) => output.includes(secret))
    expect(told.map(([name]) => name)).toEqual([])
  },
  patient,
)
