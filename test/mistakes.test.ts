import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { postgres } from '../adapters/postgres/index.ts'
import { redis } from '../adapters/redis/index.ts'
import { statusOfCode } from '../src/errors.ts'
import { createPosthorn, type PosthornError } from '../src/index.ts'
import { createTestPosthorn } from '../src/testing/test-posthorn.ts'

// Sixty mistakes, and what their makers read. The snapshot is for reading: a sentence names what was asked, what is wrong
// and, where it can, the way out.

const request = { url: 'https://example.com/hook' }
type Functions = ReturnType<typeof createTestPosthorn>
// Mistakes are what types refuse.
// oxlint-disable-next-line typescript/no-explicit-any
const any = (value: unknown): any => value
const event = { event_type: 'a', data: {} }

const mistakes: readonly (readonly [name: string, make: (p: Functions) => unknown])[] = [
  ['unknown endpoint', (p) => p.endpoints.get('acme', 'ep_1')],
  ['unknown endpoint in an update', (p) => p.endpoints.update('acme', 'ep_1', {})],
  ['unknown endpoint in a test', (p) => p.endpoints.test('acme', 'ep_1')],
  ['unknown source', (p) => p.sources.get('acme', 'src_1')],
  ['unknown plugin', (p) => p.plugins.get('acme', 'plg_1')],
  ['unknown event', (p) => p.events.get('acme', 'evt_1')],
  ['unknown event, raw', (p) => p.events.raw('acme', 'evt_1')],
  ['unknown event, explained', (p) => p.events.explain('acme', 'evt_1')],
  ['unknown attempt', (p) => p.attempts.get('acme', 'att_1')],
  ['an id with a space', (p) => p.endpoints.get('acme', 'no id')],
  ['unknown workspace', (p) => p.events.create('nope', event)],
  ['unknown workspace in a list', (p) => p.endpoints.list('nope')],
  ['unknown workspace by a name', (p) => p.endpoints.list('Acme Corp.')],
  ['unknown workspace, retrieved', (p) => p.workspaces.get('nope')],
  ['no workspace', (p) => p.events.create(any(undefined), event)],
  ['no input', (p) => p.endpoints.create('acme', any(undefined))],
  ['null for an input', (p) => p.endpoints.create('acme', any(null))],
  ['a list for an input', (p) => p.endpoints.create('acme', any([]))],
  ['no request', (p) => p.endpoints.create('acme', any({}))],
  ['ftp', (p) => p.endpoints.create('acme', { request: { url: 'ftp://x' } })],
  ['url without a scheme', (p) => p.endpoints.create('acme', { request: { url: 'example.com/hook' } })],
  ['url with a password', (p) => p.endpoints.create('acme', { request: { url: 'https://me:secret@x.example' } })],
  ['url of a number', (p) => p.endpoints.create('acme', { request: { url: any(5) } })],
  ['method', (p) => p.endpoints.create('acme', { request: { ...request, method: any('post') } })],
  ['timeout too long', (p) => p.endpoints.create('acme', { request: { ...request, timeout: 60_001 } })],
  ['timeout of a half', (p) => p.endpoints.create('acme', { request: { ...request, timeout: 0.5 } })],
  ['header that frames', (p) => p.endpoints.create('acme', { request: { ...request, headers: { Host: 'x' } } })],
  [
    'header with a secret',
    (p) => p.endpoints.create('acme', { request: { ...request, headers: { 'x-key': 'secret\n' } } }),
  ],
  ['no attempts', (p) => p.endpoints.create('acme', { request, retry: { config: { attempts: [] } } })],
  ['attempts before now', (p) => p.endpoints.create('acme', { request, retry: { config: { attempts: [0, -1] } } })],
  ['empty pattern', (p) => p.endpoints.create('acme', { request, events: ['a', ''] })],
  ['events as a text', (p) => p.endpoints.create('acme', { request, events: any('a') })],
  ['metadata of a number', (p) => p.endpoints.create('acme', { request, metadata: any({ tier: 1 }) })],
  ['rate limit without a period', (p) => p.endpoints.create('acme', { request, rate_limit: any({ quota: 1 }) })],
  ['plugins in an endpoint', (p) => p.endpoints.create('acme', any({ request, plugins: [] }))],
  ['a bad id', (p) => p.endpoints.create('acme', { id: 'a b', request })],
  ['an id that is too long', (p) => p.workspaces.create({ id: 'x'.repeat(65) })],
  [
    'many at once',
    (p) => p.endpoints.create('acme', any({ request: { url: 1, method: 2, timeout: 3 }, events: 4, enabled: 5 })),
  ],
  ['a name that is taken', (p) => p.endpoints.create('acme', { name: 'taken', request })],
  ['an id that is taken', (p) => p.endpoints.create('acme', { id: 'taken', request })],
  ['a workspace that is there', (p) => p.workspaces.create({ id: 'acme' })],
  ['unknown plugin name', (p) => p.plugins.create('acme', { name: 'hmac', source_id: 's' })],
  ['plugin without a name', (p) => p.plugins.create('acme', any({ source_id: 's' }))],
  ['plugin without an owner', (p) => p.plugins.create('acme', { name: 'basic-auth' })],
  [
    'plugin of an unknown endpoint',
    (p) => p.plugins.create('acme', { name: 'standard-webhooks', endpoint_id: 'ep_9' }),
  ],
  ['plugin on the wrong side', (p) => p.plugins.create('acme', { name: 'standard-webhooks', source_id: 's' })],
  ['plugin config', (p) => p.plugins.create('acme', { name: 'basic-auth', source_id: 's', config: { username: 'u' } })],
  [
    'plugin secret',
    (p) =>
      p.plugins.create(
        'acme',
        any({ name: 'standard-webhooks', endpoint_id: 'taken', config: { secrets: 'topsecret' } }),
      ),
  ],
  ['event without a type', (p) => p.events.create('acme', any({ data: {} }))],
  ['event without data', (p) => p.events.create('acme', any({ event_type: 'a' }))],
  ['event with a list', (p) => p.events.create('acme', any({ event_type: 'a', data: [] }))],
  ['event with a BigInt', (p) => p.events.create('acme', { event_type: 'a', data: { order: { total: [1n] } } })],
  ['event with a circle', (p) => p.events.create('acme', { event_type: 'a', data: circle() })],
  ['event with a long unique_id', (p) => p.events.create('acme', { ...event, unique_id: 'x'.repeat(51) })],
  ['event type with a line feed', (p) => p.events.create('acme', { ...event, event_type: 'a\nb' })],
  ['retry to nobody', async (p) => p.events.retry('acme', (await p.events.create('acme', event)).id, 'ep_1')],
  ['replay with a bad cursor', (p) => p.events.replay('acme', { after: '' })],
  ['replay of successes', (p) => p.events.replay('acme', { status: any('SUCCESSFUL') })],
  ['page too large', (p) => p.events.list('acme', { limit: 1001 })],
  ['unknown sort', (p) => p.events.list('acme', { sort: any('name.asc') })],
  ['after and before', (p) => p.events.list('acme', { after: 'a', before: 'b' })],
  ['source without config', (p) => p.sources.create('acme', any({}))],
  ['source path', (p) => p.sources.create('acme', { config: { http: { path: 'github' } } })],
  ['document with a typo', (p) => p.config.sync('acme', any({ endpoint: [] }))],
  ['entry without a name', (p) => p.config.sync('acme', { endpoints: [{ request }] })],
  ['an unknown option', () => createPosthorn(any({ delivery: {} }))],
  ['a url for a pool', () => postgres(any('postgres://me:topsecret@db/app'))],
  ['nothing for a pool', () => postgres(any(undefined))],
  ['a url for a redis client', () => redis(any('redis://me:topsecret@cache'))],
  ['a plugin that was not called', () => createPosthorn({ plugins: any([() => {}]) })],
  ['an option out of bounds', () => createPosthorn({ deliver: { timeoutMs: 0 } })],
  ['a prefix with a slash', () => createPosthorn({ admin: { basePath: 'admin/' } })],
]

function circle(): object {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

async function toldOf(make: (p: Functions) => unknown): Promise<PosthornError> {
  const posthorn = createTestPosthorn()
  await posthorn.workspaces.create({ id: 'acme' })
  await posthorn.endpoints.create('acme', { id: 'taken', name: 'taken', request })
  await posthorn.sources.create('acme', { id: 's', config: {} })
  try {
    await make(posthorn)
  } catch (cause) {
    return cause as PosthornError
  }
  throw new Error('it was no mistake')
}

test('sixty mistakes are told in sentences', async () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(60)
  const lines: string[] = []
  for (const [name, make] of mistakes) {
    const { code, message } = await toldOf(make)
    lines.push(`${name} [${code}]\n    ${message}`)
  }
  const text = lines.join('\n')
  expect(text).not.toContain('secret@')
  expect(text).not.toContain('topsecret')
  expect(text).toMatchSnapshot()
})

test('an error has its code, its ids, its fields and the body that HTTP answers', async () => {
  const missing = await toldOf((p) => p.endpoints.get('acme', 'ep_1'))
  expect(missing).toMatchObject({
    code: 'not_found',
    message: 'endpoint "ep_1" not found in workspace "acme"',
    details: { workspace: 'acme', endpoint: 'ep_1' },
    body: { message: 'Not found' },
  })
  const refused = await toldOf((p) => p.endpoints.create('acme', { request: { url: 'ftp://x' } }))
  const fields = { request: { url: 'value must be an http or https URL' } }
  expect(refused).toMatchObject({
    message: 'endpoints.create: request.url must be an http or https URL (got "ftp://x")',
    fields,
    body: { message: 'Request Validation', error: { message: 'request validation', fields } },
  })
  expect(refused.stack).toContain(refused.message)
  expect((await toldOf((p) => p.events.create('nope', event))).message).toBe(
    'workspace "nope" does not exist; create it with workspaces.create({ id: "nope" })',
  )
})

test('the README has every code with its status', () => {
  const rows = [...readFileSync('README.md', 'utf8').matchAll(/^\| `(\w+)` +\| (\d{3}) +\| \S/gm)]
  expect(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))).toEqual(statusOfCode)
})
