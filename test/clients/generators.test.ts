import { mkdir, rm, writeFile } from 'node:fs/promises'

import { afterAll, beforeAll, expect, test } from 'vitest'

import type { Posthorn } from '../../src/index.ts'
import { made, run, tool } from './run.ts'
import type { Seen } from './scenarios/seen.ts'
import { served } from './server.ts'
import { missing, python, type Toolchain, withGo, withJava, withPython } from './toolchains.ts'

// Each generator makes a client from the document of a running server. The client must compile as it was made, make an
// endpoint, publish an event, list with a filter of time, and dump.

let posthorn: Posthorn
let url = ''
let close = () => {}
const document = `${made}/openapi.json`

beforeAll(async () => {
  ;({ posthorn, url, close } = await served())
  await mkdir(made, { recursive: true })
  const response = await fetch(`${url}/openapi.json`)
  if (!response.ok) throw new Error(`the document was answered ${response.status}`)
  await writeFile(document, await response.text())
})
afterAll(() => close())

async function compile(scenario: string): Promise<void> {
  const options =
    '--noEmit --strict --skipLibCheck --target es2023 --lib es2023,dom,dom.iterable --module preserve --types node'
  await tool('tsc', [...options.split(' '), `scenarios/${scenario}.ts`])
}

async function fresh(name: string): Promise<string> {
  const folder = `${made}/${name}`
  await rm(folder, { recursive: true, force: true })
  return folder
}

async function generate(generator: string, folder: string, ...options: string[]): Promise<void> {
  const args = ['-i', document, '-g', generator, '-o', folder, ...options]
  await run(`${made}/python/bin/openapi-generator-cli`, ['generate', ...args])
}

interface Generator {
  readonly name: string
  /** Where its part of the work lives; a workspace has this name. */
  readonly scenario: string
  readonly needs: readonly Toolchain[]
  make(): Promise<unknown>
  use(workspace: string): Promise<Seen>
}

const inTypeScript = (scenario: string): Pick<Generator, 'scenario' | 'use'> => ({
  scenario,
  async use(workspace) {
    await compile(scenario)
    const { run } = (await import(`./scenarios/${scenario}.ts`)) as { run(url: string, ws: string): Promise<Seen> }
    return await run(url, workspace)
  },
})
const inPython = (scenario: string): Pick<Generator, 'scenario' | 'use'> => ({
  scenario,
  use: async (workspace) =>
    JSON.parse(
      await run(python, [`python/${scenario}.py`, url, workspace], {
        PYTHONPATH: `${made}/${scenario}:${made}`,
        PYTHONDONTWRITEBYTECODE: '1',
      }),
    ) as Seen,
})
const inGo = (scenario: string): Pick<Generator, 'scenario' | 'use'> => ({
  scenario: `go-${scenario}`,
  use: async (workspace) => JSON.parse(await run('go', ['run', `./go/${scenario}`, url, workspace])) as Seen,
})

const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript with openapi-fetch',
    needs: [],
    make: () => tool('openapi-typescript', [document, '-o', `${made}/openapi-typescript.ts`]),
    ...inTypeScript('openapi-fetch'),
  },
  {
    name: '@hey-api/openapi-ts',
    needs: [],
    make: async () => tool('openapi-ts', ['-i', document, '-o', await fresh('hey-api')]),
    ...inTypeScript('hey-api'),
  },
  {
    name: 'orval, fetch and zod',
    needs: [],
    async make() {
      const folder = await fresh('orval')
      await mkdir(folder, { recursive: true })
      const output = (client: string) => ({
        target: `${folder}/${client}.ts`,
        client,
        mode: 'single',
        baseUrl: { getBaseUrlFromSpecification: true },
      })
      const config = {
        client: { input: document, output: output('fetch') },
        schemas: { input: document, output: output('zod') },
      }
      await writeFile(`${folder}/orval.config.cjs`, `module.exports = ${JSON.stringify(config)}`)
      await tool('orval', ['--config', `${folder}/orval.config.cjs`])
    },
    ...inTypeScript('orval'),
  },
  {
    name: 'openapi-generator, TypeScript',
    needs: [withPython, withJava],
    make: async () => generate('typescript-fetch', await fresh('openapi_generator_typescript')),
    ...inTypeScript('openapi-generator'),
  },
  {
    name: 'openapi-generator, Python',
    needs: [withPython, withJava],
    make: async () => generate('python', await fresh('openapi_generator')),
    ...inPython('openapi_generator'),
  },
  {
    name: 'openapi-generator, Go',
    needs: [withPython, withJava, withGo],
    async make() {
      const options = ['--additional-properties', 'withGoMod=false,packageName=api']
      await generate('go', await fresh('openapi_generator_go'), ...options, '--global-property', 'apiTests=false')
    },
    ...inGo('openapi_generator'),
  },
  {
    name: 'openapi-python-client',
    needs: [withPython],
    async make() {
      const folder = await fresh('openapi_python')
      const options = ['--path', document, '--output-path', folder, '--meta', 'none']
      await run(`${made}/python/bin/openapi-python-client`, ['generate', ...options])
    },
    ...inPython('openapi_python_client'),
  },
  {
    name: 'oapi-codegen',
    needs: [withGo],
    async make() {
      const folder = await fresh('oapi_codegen')
      await mkdir(folder, { recursive: true })
      const options = ['-generate', 'types,client', '-package', 'api', '-o', `${folder}/api.go`]
      await run('go', ['tool', 'oapi-codegen', ...options, document])
    },
    ...inGo('oapi_codegen'),
  },
]

test.for(generators)('$name', async ({ scenario, needs, make, use }, { skip }) => {
  const reason = await missing(needs)
  if (reason !== null) return skip(reason)
  await make()
  await posthorn.workspaces.create({ id: scenario })
  const seen = await use(scenario)
  const endpoint = await posthorn.endpoints.get(scenario, seen.endpoint)
  const event = await posthorn.events.get(scenario, seen.event)
  expect(endpoint).toMatchObject({ name: scenario, events: ['invoice.*'] })
  expect(event).toMatchObject({ event_type: 'invoice.paid', data: { amount: 4200 } })
  expect(seen).toEqual({ endpoint: endpoint.id, event: event.id, listed: [event.id], later: 0, dumped: [scenario] })
})
