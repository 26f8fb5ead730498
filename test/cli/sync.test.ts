import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { folder, onEveryServer, posthorn, server } from '../support/cli.ts'

const slow = { timeout: 60_000 }

/** The sample of WebhookX's own documentation, with the wasm plugin that it offers switched off. */
const sample = `
endpoints:
  - name: default-endpoint
    request:
      timeout: 10000
      url: https://httpbin.org/anything
      method: POST
      headers:
        x-apikey: secret
    retry:
      strategy: fixed
      config:
        attempts: [0, 3600, 3600]
    events: [charge.succeeded]
    metadata:
      key1: value1
    plugins:
      - name: webhookx-signature
        config:
          signing_secret: foo
      - name: wasm
        enabled: false
        config:
          file: index.wasm
sources:
  - name: default-source
    config:
      http:
        path: /
        methods: ["POST"]
        response:
          code: 200
          content_type: application/json
          body: '{"message": "OK"}'
`

onEveryServer((engine) => {
  test('a file of WebhookX is looked at, synced, dumped, and synced back unchanged', slow, async () => {
    const home = folder()
    const write = (name: string, text: string) => writeFileSync(join(home, name), text)
    write('webhookx.yml', sample)
    const { admin } = await server(engine())
    const run = (...args: string[]) => posthorn([...args, '--url', admin], { cwd: home })

    const changes = [
      '+ endpoint default-endpoint',
      '+ plugin webhookx-signature of default-endpoint',
      '+ source default-source',
      'endpoints 1 created, 0 updated, 0 deleted, 0 unchanged',
      'sources   1 created, 0 updated, 0 deleted, 0 unchanged',
      'plugins   1 created, 0 updated, 0 deleted, 0 unchanged',
      "warning: endpoints[0].plugins[1]: unknown plugin name 'wasm', left out since it is disabled",
    ]
    const dry = await run('sync', 'webhookx.yml', '--dry-run')
    expect([dry.code, dry.out.trim().split('\n')]).toEqual([0, ['Dry run: nothing was written.', ...changes]])
    expect((await run('dump')).out).toBe('endpoints: []\nsources: []\n')
    expect((await run('sync', 'webhookx.yml')).out.trim().split('\n')).toEqual(changes)

    const dumped = await run('dump')
    write('dumped.yaml', dumped.out)
    expect(JSON.parse((await run('sync', 'dumped.yaml', '--json')).out)).toMatchObject({ changes: [] })

    const id = /id: (\w+)\n {4}metadata:\n {6}key1/.exec(dumped.out)![1]
    write(
      'changed.yaml',
      dumped.out.replace('signing_secret: foo', 'signing_secret: bar').replace('httpbin.org', 'shop.example'),
    )
    const updated = await run('sync', 'changed.yaml')
    expect(updated.out.split('\n').slice(0, 4)).toEqual([
      `~ endpoint default-endpoint (${id})`,
      '    request.url: "https://httpbin.org/anything" -> "https://shop.example/anything"',
      `~ plugin webhookx-signature of default-endpoint (${id})`,
      '    config.signing_secret: changed',
    ])

    write('fewer.yaml', 'endpoints: []')
    expect((await run('sync', 'fewer.yaml')).out.trim().split('\n')).toEqual([
      `- endpoint default-endpoint (${id})`,
      `- plugin webhookx-signature of default-endpoint (${id})`,
      'endpoints 0 created, 0 updated, 1 deleted, 0 unchanged',
      'sources   0 created, 0 updated, 0 deleted, 0 unchanged',
      'plugins   0 created, 0 updated, 1 deleted, 0 unchanged',
      'The file does not name sources: they stay as they are.',
    ])
  })
})

test(
  'a document that the server refuses is told place by place, and a file that is none by its line',
  slow,
  async () => {
    const home = folder()
    const { admin } = await server()
    writeFileSync(
      join(home, 'wrong.yaml'),
      'endpoints:\n  - name: a\n    request: {}\n  - request: { url: "ftp://x" }\n',
    )
    writeFileSync(join(home, 'broken.yaml'), 'endpoints: [')
    const run = (file: string) => posthorn(['sync', file, '--url', admin], { cwd: home })
    expect(await run('wrong.yaml')).toMatchObject({
      code: 1,
      err: 'posthorn: config.sync: endpoints[0].request.url is required; endpoints[1].request.url must be an http or https URL (got "ftp://x"); endpoints[1]: id or name is required\n',
    })
    expect(await run('broken.yaml')).toMatchObject({ code: 2, err: expect.stringContaining('at line 1, column') })
  },
)

test('where the server removes kinds that a file leaves out, the difference shows that', slow, async () => {
  const home = folder()
  const { admin } = await server({ POSTHORN_COMPATIBLE: 'webhookx' })
  writeFileSync(join(home, 'a.yaml'), 'sources: [{ id: s1, config: {} }]')
  writeFileSync(join(home, 'b.yaml'), 'endpoints: [{ id: e1, request: { url: "https://shop.example/" } }]')
  await posthorn(['sync', 'a.yaml', '--url', admin], { cwd: home })
  const { out } = await posthorn(['sync', 'b.yaml', '--dry-run', '--url', admin], { cwd: home })
  expect(out.split('\n').slice(1, 3)).toEqual(['+ endpoint e1', '- source s1'])
  expect(out).not.toContain('stay as they are')
})
