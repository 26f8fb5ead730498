import { describe, expect, test } from 'vitest'

import { definePlugin } from '../../src/contracts/plugin.ts'
import { anyObject } from '../../src/schema/fields.ts'
import { api, refusal, url } from '../http/api.ts'
import { onEveryEngine } from '../support/engines.ts'

// What documents of WebhookX hold, and what every instance takes.

const request = { url }
const none = { created: 0, updated: 0, deleted: 0, unchanged: 0 }
const padded = (id: string) => id.padEnd(27)

onEveryEngine((fresh) => {
  async function config() {
    const { call, made, log } = api({ storage: await fresh() })
    const sync = (document: unknown, query = '') => call('POST', `/config/sync${query}`, document)
    const yaml = (text: string) => call('POST', '/config/sync', text, { 'content-type': 'text/plain' })
    const dumped = async () => (await call('POST', '/config/dump', undefined, { accept: 'application/json' })).body
    return { call, made, log, sync, yaml, dumped }
  }

  test('null for a kind, or for plugins, lists nothing, and so removes all', async () => {
    const { sync, yaml, dumped } = await config()
    const plugins = [{ name: 'webhookx-signature' }]
    const full = { endpoints: [{ id: 'e', request, plugins }], sources: [{ id: 's', config: {} }] }
    await sync(full)
    expect((await sync({ endpoints: [{ id: 'e', request, plugins: null }] })).body).toEqual({
      endpoints: { ...none, unchanged: 1 },
      sources: none,
      plugins: { ...none, deleted: 1 },
    })
    expect((await sync({ endpoints: null }, '?dry_run=true')).body.endpoints).toEqual({ ...none, deleted: 1 })
    expect((await sync({ endpoints: null })).body).toEqual({
      endpoints: { ...none, deleted: 1 },
      sources: none,
      plugins: none,
    })
    expect((await yaml('sources: null\n')).body.sources).toEqual({ ...none, deleted: 1 })
    await sync(full)
    expect((await yaml('endpoints: null\nsources: null\n')).status).toBe(200)
    expect(await dumped()).toEqual({ endpoints: [], sources: [] })
  })

  test('a kind that is absent is left alone', async () => {
    const { sync, yaml, dumped } = await config()
    await sync({ endpoints: [{ id: 'e', request }], sources: [{ id: 's', config: {} }] })
    await yaml('sources: []\n')
    expect(await dumped()).toMatchObject({ endpoints: [{ id: 'e' }], sources: [] })
  })

  test('an empty path is none: one is generated, and the present one is kept', async () => {
    const { call, made, sync } = await config()
    const empty = { config: { http: { path: '' } } }
    const source = await made('/sources', { id: 's', ...empty })
    expect(source.config.http.path).toMatch(/^\/[0-9a-f]{32}$/)
    expect((await call('PUT', '/sources/s', empty)).body.config.http.path).toBe(source.config.http.path)
    expect((await sync({ sources: [{ id: 's', ...empty }] })).body.sources).toEqual({ ...none, unchanged: 1 })
    await sync({
      sources: [
        { id: 's', config: { http: { path: '/own' } } },
        { name: 'new', ...empty },
      ],
    })
    await sync({
      sources: [
        { id: 's', ...empty },
        { name: 'new', ...empty },
      ],
    })
    const paths = (await call('GET', '/sources?sort=id.asc')).body.data.map(
      ({ config }: { config: { http: { path: string } } }) => config.http.path,
    )
    expect(paths.toSorted()).toEqual([expect.stringMatching(/^\/[0-9a-f]{32}$/), '/own'])
    expect((await call('POST', '/sources', { config: { http: { path: ' ' } } })).body).toEqual(
      refusal({ config: { http: { path: 'value must start with "/"' } } }),
    )
  })

  test('ids in documents lose the spaces at their end, and only these', async () => {
    const { sync, yaml, dumped, call } = await config()
    const plugins = [{ id: padded('p'), name: 'webhookx-signature', config: { signing_secret: 'x' } }]
    await sync({ endpoints: [{ id: padded('e'), request, plugins }], sources: [{ id: padded('s'), config: {} }] })
    expect(await dumped()).toMatchObject({ endpoints: [{ id: 'e', plugins: [{ id: 'p' }] }], sources: [{ id: 's' }] })
    const again = await yaml(`endpoints:\n  - id: ${JSON.stringify(padded('e'))}\n    request: { url: '${url}' }\n`)
    expect(again.body.endpoints).toEqual({ ...none, unchanged: 1 })
    const rule = 'value must match [A-Za-z0-9_:-]{1,64}'
    for (const id of [' e', 'e\t', 'a b', '   ', '']) {
      expect((await sync({ endpoints: [{ id, request }] })).body).toEqual(refusal({ endpoints: [{ id: rule }] }))
    }
    const same = [
      { id: 'e', request },
      { id: 'e ', request },
    ]
    expect((await sync({ endpoints: same })).body).toEqual(
      refusal({ endpoints: [null, { id: 'duplicate items found' }] }),
    )
    expect((await call('POST', '/endpoints', { id: 'e ', request })).body).toEqual(refusal({ id: rule }))
  })

  test('a disabled plugin of an unknown name is left out with a warning, an enabled one is refused', async () => {
    const { sync, dumped, log } = await config()
    const document = (enabled: boolean) => ({
      endpoints: [{ name: 'e', request, plugins: [{ name: 'webhookx-signature' }, { name: 'wasm', enabled }] }],
    })
    const warning = "endpoints[0].plugins[1]: unknown plugin name 'wasm', left out since it is disabled"
    expect((await sync(document(true))).body).toEqual(
      refusal({ endpoints: [{ plugins: [null, { name: "unknown plugin name 'wasm'" }] }] }),
    )
    const dry = await sync(document(false), '?dry_run=true')
    expect(Object.keys(dry.body)).toEqual(['endpoints', 'sources', 'plugins', 'warnings'])
    expect(dry.body.warnings).toEqual([warning])
    const first = await sync(document(false))
    expect(first.body).toEqual({
      endpoints: { ...none, created: 1 },
      sources: none,
      plugins: { ...none, created: 1 },
      warnings: [warning],
    })
    expect((await dumped()).endpoints[0].plugins).toMatchObject([{ name: 'webhookx-signature' }])
    expect((await sync(document(false))).body.plugins).toEqual({ ...none, unchanged: 1 })
    expect(log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      `config sync of workspace default: ${warning}`,
      `config sync of workspace default: ${warning}`,
    ])
    expect(Object.keys((await sync({ endpoints: [] })).body)).toEqual(['endpoints', 'sources', 'plugins'])
  })

  test('what a process that knows the plugin stored of it stays, disabled', async () => {
    const storage = await fresh()
    const acme = definePlugin({ name: 'acme', sides: ['outbound'], config: anyObject(), prepare: () => ({}) })
    const knowing = api({ storage, plugins: [acme] })
    const document = (enabled: boolean) => ({
      endpoints: [{ id: 'e', request, plugins: [{ name: 'acme', enabled, config: { key: 'k' } }] }],
    })
    await knowing.call('POST', '/config/sync', document(true))
    const { call } = api({ storage })
    expect((await call('POST', '/config/sync', document(false))).body.plugins).toEqual({ ...none, updated: 1 })
    expect((await call('GET', '/plugins')).body.data).toMatchObject([
      { name: 'acme', enabled: false, endpoint_id: 'e', config: { key: 'k' } },
    ])
    const dump = await call('POST', '/config/dump')
    const back = await call('POST', '/config/sync', dump.text, { 'content-type': 'text/plain' })
    expect(back.body).toMatchObject({ plugins: { ...none, unchanged: 1 }, warnings: [expect.any(String)] })
  })

  test('a document that is YAML and no mapping is malformed', async () => {
    const { yaml } = await config()
    for (const text of ['- endpoints\n', 'endpoints', '# nothing\n', '']) {
      expect([text, (await yaml(text)).body]).toEqual([
        text,
        { message: 'malformed yaml content: the document is no mapping' },
      ])
    }
  })
})

describe('warnings of a sync', () => {
  const wasm = (count: number) => ({
    endpoints: Array.from({ length: count }, (_, i) => ({
      name: `e${i}`,
      request,
      plugins: [{ name: 'wasm', enabled: false }],
    })),
  })

  test('are a hundred, and how many others there are', async () => {
    const { call } = api()
    const { warnings } = (await call('POST', '/config/sync', wasm(103))).body
    expect([warnings.length, warnings[99], warnings[100]]).toEqual([
      101,
      "endpoints[99].plugins[0]: unknown plugin name 'wasm', left out since it is disabled",
      '3 more',
    ])
  })

  test('stand on one line of the log, whatever the name holds', async () => {
    const { call, log } = api()
    const plugins = [{ name: `a\nb\u2028${'c'.repeat(9000)}`, enabled: false }]
    await call('POST', '/config/sync', { endpoints: [{ name: 'e', request, plugins }] })
    const { message } = log.lines[0]!
    expect(message).toMatch(
      /^config sync of workspace default: endpoints\[0\]\.plugins\[0\]: unknown plugin name 'a b c+$/,
    )
    expect(message.length).toBeLessThan(600)
  })

  test('a plugin without a name is refused, disabled or not', async () => {
    const { call } = api()
    const document = { endpoints: [{ name: 'e', request, plugins: [{ enabled: false }] }] }
    expect((await call('POST', '/config/sync', document)).body).toEqual(
      refusal({ endpoints: [{ plugins: [{ name: "unknown plugin name ''" }] }] }),
    )
  })
})
