import { describe, expect, test, vi } from 'vitest'

import { portablePlatform } from '../../src/portable.ts'
import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { makePosthorn } from '../../src/posthorn.ts'
import { nodePlatform } from '../../adapters/node/platform.ts'

vi.mock('re2js', () => {
  throw new Error("Cannot find package 're2js'")
})
vi.mock('quickjs-emscripten-core', () => {
  throw new Error("Cannot find package 'quickjs-emscripten-core'")
})

const validation = { name: 'event-validation', config: { version: 'draft-07', schemas: { a: '{}' } } }
const source = { id: 'in', config: { http: { path: '/in', methods: ['POST'] } } } as const
const script = { name: 'function', config: { function: 'function handle() {}' } }
const install = {
  'event-validation': 'The event-validation plugin needs: npm install re2js',
  function: 'The function plugin needs: npm install quickjs-emscripten-core @jitl/quickjs-wasmfile-release-sync',
}

function instance() {
  const errors: unknown[] = []
  const ignore = () => {}
  const posthorn = makePosthorn(portablePlatform)({
    plugins: [eventValidation(), functionPlugin()],
    logger: { debug: ignore, info: ignore, warn: ignore, error: (...line) => void errors.push(line) },
  })
  const ask = async (method: string, path: string, body: unknown) => {
    const request = new Request(`http://admin.test${path}`, { method, body: JSON.stringify(body) })
    const response = await posthorn.admin.fetch(request)
    return { status: response.status, body: await response.json() }
  }
  return { posthorn, errors, ask }
}

describe.each([validation, script])('without the package that $name needs', (plugin) => {
  const name = plugin.name as keyof typeof install
  const message = `plugin '${name}' cannot run here: what it needs could not be loaded`
  const refusal = (fields: object) => ({
    status: 400,
    body: { message: 'Request Validation', error: { message: 'request validation', fields } },
  })

  test('a plugin is refused by its name, and the log tells what to install', async () => {
    const { posthorn, errors, ask } = instance()
    await posthorn.sources.create('default', source)
    expect(await ask('POST', '/plugins', { ...plugin, source_id: 'in' })).toEqual(refusal({ name: message }))
    expect(errors).toEqual([
      [`plugin '${name}' cannot run`, { cause: expect.objectContaining({ message: install[name] }) }],
    ])
  })

  test('so is one in a config sync, which writes nothing', async () => {
    const { posthorn, errors, ask } = instance()
    const document = { sources: [{ ...source, plugins: [plugin] }] }
    expect(await ask('POST', '/workspaces/default/config/sync', document)).toEqual(
      refusal({ sources: [{ plugins: [{ name: message }] }] }),
    )
    expect(errors).toHaveLength(1)
    expect(await posthorn.sources.list('default')).toMatchObject({ total: 0 })
  })
})

test('a process that passed the plugin does not start, and says what to install', async () => {
  const { posthorn } = instance()
  await expect(posthorn.start()).rejects.toMatchObject({ code: 'internal', message: install['event-validation'] })
  const scripted = makePosthorn(portablePlatform)({ plugins: [functionPlugin()] })
  await expect(scripted.start()).rejects.toMatchObject({ code: 'internal', message: install.function })
})

test('one that has threads for functions finds out too', async () => {
  const missing = new Error('quickjs-emscripten-core is missing')
  const posthorn = makePosthorn({ ...nodePlatform, thread: () => Promise.reject(missing) })({
    plugins: [functionPlugin()],
  })
  await expect(posthorn.start()).rejects.toBe(missing)
})
