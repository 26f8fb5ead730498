import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'

import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { onEveryEngine } from '../support/engines.ts'
import { served } from '../support/served.ts'
import { startWebhookx, type Webhookx, webhookx, withoutWebhookx } from '../support/webhookx.ts'

// The real command line of WebhookX 1.2.0, and its real server, with documents that go back and forth.

const missing = withoutWebhookx(inject('postgresUrl'))
if (missing !== null) process.stderr.write(`SKIPPED: documents beside WebhookX: ${missing}\n`)

const padded = (id: string) => id.padEnd(27)
const schema = '{"type":"object","properties":{"amount":{"type":"integer","minimum":1}},"required":["amount"]}'

/** Documents of every kind that WebhookX's users have. */
const documents: Record<string, string> = {
  // As its sample writes one: a signature and a disabled wasm, a source with an answer of its own.
  'a sample': `
endpoints:
  - name: shop-endpoint
    request:
      timeout: 10000
      url: https://shop.example/anything
      method: POST
      headers:
        x-apikey: secret
    retry:
      strategy: fixed
      config:
        attempts: [0, 3600, 3600]
    events: [ "charge.succeeded" ]
    metadata: { key1: value1, key2: value2 }
    plugins:
      - name: webhookx-signature
        config:
          signing_secret: foo
      - name: wasm
        enabled: false
        config:
          file: /path/to/a.wasm
          envs:
            foo: bar
sources:
  - name: shop-source
    type: http
    config:
      http:
        path: /
        methods: [ "POST" ]
        response:
          code: 200
          content_type: application/json
          body: '{"message": "OK"}'
    plugins:
      - name: function
        config:
          function: "function handle() {}"
      - name: event-validation
        config:
          version: draft-06
          default_schema: |
            { "type": "object" }
          schemas:
            charge.succeeded: '${schema}'
`,
  // As its benchmark has one: many sources and endpoints, most of the defaults.
  'a benchmark': `
sources:
  - { name: async-source, async: true, type: http, config: { http: { path: /bench, methods: [ "POST" ], response: { code: 200, content_type: application/json, body: '{"message": "OK"}' } } } }
  - { name: sync-source, type: http, config: { http: { path: /bench/sync, methods: [ "POST" ] } } }
  - name: function-source
    async: true
    config: { http: { path: /bench/function } }
    plugins:
      - name: function
        config:
          function: |
            function handle() {
              var event = JSON.parse(webhookx.request.getBody())
              event.data.foo = 'bar'
              webhookx.request.setBody(JSON.stringify(event))
            }
endpoints:
  - { name: plain, request: { timeout: 10000, url: "http://upstream:9999/", method: POST }, retry: { strategy: fixed, config: { attempts: [0, 3600, 3600] } }, events: [ "sanity" ] }
  - { name: delayed, request: { url: "http://upstream:9999/delay/100" }, events: [ "delay-100ms" ] }
  - { name: failing, request: { url: "http://upstream:9999/status/500" }, retry: { config: { attempts: [0, 0, 0] } }, events: [ "http-500" ] }
`,
  'empty kinds': 'endpoints: []\nsources: []\n',
  'one kind': 'endpoints: []\nsources:\n  - { name: alone, config: { http: { path: /alone } } }\n',
  'blank paths': `
endpoints: []
sources:
  - { name: blank, config: { http: { path: "", methods: [PUT] } } }
  - { name: none, config: { http: {} } }
`,
  'padded ids': `
endpoints:
  - id: ${JSON.stringify(padded('e-1'))}
    name: padded
    request: { url: "https://shop.example/" }
    plugins: [ { id: ${JSON.stringify(padded('p-1'))}, name: webhookx-signature, config: { signing_secret: foo } } ]
sources:
  - { id: ${JSON.stringify(padded('s-1'))}, name: padded, config: { http: { path: /padded } } }
`,
  // connect-auth too, where there is a licence.
  'all plugins': `
endpoints:
  - name: signed
    request: { url: "https://shop.example/" }
    rate_limit: { quota: 10, period: 1 }
    plugins: [ { name: webhookx-signature, enabled: false, config: { signing_secret: foo }, metadata: { a: b } } ]
sources:
  - name: guarded
    rate_limit: { quota: 10, period: 1 }
    config: { http: { path: /guarded, methods: [POST, PUT] } }
    plugins:
      - { name: basic-auth, config: { username: u, password: p } }
      - { name: key-auth, config: { param_name: k, param_locations: [header, query], key: v } }
      - { name: hmac-auth, config: { hash: sha-512, encoding: base64, signature_header: x-signature, secret: s } }
      - { name: event-validation, config: { version: openapi-3.0, schemas: { a: '${schema}' }, verbose_response: true } }
      - { name: function, config: { function: "function handle() {}" } }
`,
}

// Real files of a user, such as WebhookX's own sample: `WEBHOOKX_DOCUMENTS=folder`.
const folder = process.env['WEBHOOKX_DOCUMENTS']
for (const name of folder === undefined ? [] : readdirSync(folder)) {
  if (/\.ya?ml$/.test(name)) documents[name] = readFileSync(join(folder!, name), 'utf8') // it is given here
}

interface Entry {
  readonly id: string
  readonly name: string | null
  readonly request?: { readonly headers: unknown }
  readonly config?: { readonly http: { readonly path: string } }
  readonly plugins: readonly { readonly id: string; readonly name: string; readonly enabled: boolean }[] | null
}
type Dump = { readonly endpoints: readonly Entry[] | null; readonly sources: readonly Entry[] | null }

const generatedId = /^[0-9A-Za-z]{27}$|^[0-9a-z]{20,}$/i
const generatedPath = /^(\/[0-9a-f]{32})?$/

/** What a dump means: without ids and paths that a server made, in one order, without a wasm that does nothing. */
function meaning(text: string): unknown {
  const { endpoints, sources, ...rest } = parse(text) as Dump
  const idOf = (id: string) => (generatedId.test(id.trimEnd()) ? 'generated' : id.trimEnd())
  const byName = <Row extends { name: string | null; id: string }>(rows: readonly Row[]) =>
    rows.toSorted((a, b) => (`${a.name} ${a.id}` < `${b.name} ${b.id}` ? -1 : 1))
  const meant = (rows: readonly Entry[] | null) =>
    byName(rows ?? []).map(({ id, plugins, request, config, ...fields }) => ({
      ...fields,
      id: idOf(id),
      ...(request && { request: { ...request, headers: request.headers ?? {} } }),
      ...(config && {
        config: {
          http: { ...config.http, path: generatedPath.test(config.http.path) ? 'generated' : config.http.path },
        },
      }),
      plugins: byName(plugins ?? [])
        .filter(({ name, enabled }) => name !== 'wasm' || enabled)
        .map(({ id: pluginId, ...plugin }) => ({
          ...plugin,
          id: idOf(pluginId),
          // Dumps of WebhookX name the owner too.
          endpoint_id: undefined,
          source_id: undefined,
        })),
    }))
  return JSON.parse(JSON.stringify({ ...rest, endpoints: meant(endpoints), sources: meant(sources) }))
}

describe.skipIf(missing !== null)(`documents beside WebhookX${missing === null ? '' : ` (${missing})`}`, () => {
  let rival: Webhookx
  let files: string
  beforeAll(async () => {
    files = mkdtempSync(join(tmpdir(), 'posthorn-documents-'))
    rival = await startWebhookx(inject('postgresUrl')!) // skipped where it is null
  })
  afterAll(async () => {
    await rival.stop()
    rmSync(files, { recursive: true, force: true })
  })

  let count = 0
  const sync = async (server: { admin: string }, text: string) => {
    const file = join(files, `${++count}.yml`)
    writeFileSync(file, text)
    await webhookx(['admin', 'sync', file, '--addr', server.admin])
  }
  const dump = (server: { admin: string }) => webhookx(['admin', 'dump', '--addr', server.admin])
  const dryRun = async (server: { admin: string }, text: string) => {
    const answer = await fetch(`${server.admin}/config/sync?dry_run=true`, { method: 'POST', body: text })
    return (await answer.json()) as Record<string, Record<string, number>>
  }

  onEveryEngine((fresh) => {
    test.each(Object.entries(documents))('%s goes there, here, and back', { timeout: 60_000 }, async (_name, text) => {
      const ours = await served({ storage: await fresh(), plugins: [eventValidation(), functionPlugin()] })
      onTestFinished(() => ours.stop())
      await sync(rival, 'endpoints: []\nsources: []\n')
      for (const server of [rival, ours]) await sync(server, text)
      const [theirs, own] = [await dump(rival), await dump(ours)]
      expect(meaning(own)).toEqual(meaning(theirs))

      // Its dump into us changes nothing, ours into it neither; and both back again.
      await sync(ours, theirs)
      expect(meaning(await dump(ours))).toEqual(meaning(own))
      await sync(rival, own)
      expect(meaning(await dump(rival))).toEqual(meaning(own))
      await sync(ours, await dump(rival))
      await sync(rival, await dump(ours))
      expect(meaning(await dump(rival))).toEqual(meaning(own))
      const last = await dump(ours)
      expect(meaning(last)).toEqual(meaning(own))
      // Our dump synced back changes nothing at all.
      for (const { created, updated, deleted } of Object.values(await dryRun(ours, last))) {
        expect([created, updated, deleted]).toEqual([0, 0, 0])
      }
    })

    test('connect-auth, which WebhookX keeps for those with a licence, is taken', async () => {
      const ours = await served({ storage: await fresh() })
      onTestFinished(() => ours.stop())
      const config = '{ provider: stripe, provider_config: { secret: s, tolerance_window: 10 } }'
      const text = `endpoints: []\nsources: [{ name: s, config: {}, plugins: [{ name: connect-auth, config: ${config} }] }]`
      await expect(sync(rival, text)).rejects.toThrow("plugin 'connect-auth' is not available for current license")
      await sync(ours, text)
      expect(parse(await dump(ours))).toMatchObject({ sources: [{ plugins: [{ name: 'connect-auth' }] }] })
    })

    test('null kinds, which WebhookX dumps and does not take back, empty ours', async () => {
      const ours = await served({ storage: await fresh() })
      onTestFinished(() => ours.stop())
      await sync(rival, 'endpoints: []\nsources: []\n')
      const empty = await dump(rival)
      expect(parse(empty)).toEqual({ endpoints: null, sources: null })
      await expect(sync(rival, empty)).rejects.toThrow('Value is not nullable')
      await sync(ours, documents['padded ids']!) // it is there
      await sync(ours, empty)
      expect(parse(await dump(ours))).toEqual({ endpoints: [], sources: [] })
    })
  })
})
