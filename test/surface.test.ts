import { resolve } from 'node:path'

import ts from 'typescript'
import { beforeAll, describe, expect, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { type EntrySurface, reportOf, surfaceOf, undocumented } from './support/api-report.ts'

// The public surface as it is built: one report that a change of it shows up in, a sentence for every member, and short
// hovers. `npm run api` builds and renews the report.

const types = Object.entries(manifest.exports as Readonly<Record<string, string | { types: string }>>).flatMap(
  ([path, target]): [string, string][] =>
    typeof target === 'string' ? [] : [[path.replace('.', manifest.name), resolve(target.types)]],
)
const entries = Object.fromEntries(types)
const forAdapters = new Set([
  'posthorn/contracts',
  'posthorn/memory',
  'posthorn/postgres',
  'posthorn/redis',
  'posthorn/testing',
])

/** What a new user writes first, with a catalogue and a plugin of its own. Every word of it is hovered. */
const sample = `
import * as v from 'valibot'
import { createPosthorn, definePlugin, PosthornError, type Endpoint, type Options, type Posthorn } from 'posthorn'
import { memory } from 'posthorn/memory'
import { postgres } from 'posthorn/postgres'
import { redis } from 'posthorn/redis'
import { createTestPosthorn } from 'posthorn/testing'
import { verifyWebhook } from 'posthorn/verify'

const stamp = definePlugin({
  name: 'stamp',
  sides: ['outbound'],
  config: v.object({ header: v.string() }),
  prepare: ({ header }) => ({
    outbound: (request, { event, attempt, endpoint }) => ({ ...request, headers: { ...request.headers, [header]: event.id } }),
  }),
})
const plain = createPosthorn({ storage: memory(), deliver: { concurrency: 4, deny: ['@default'] }, admin: { basePath: '/ops' } })
export const typed = createPosthorn({
  events: {
    'invoice.paid': v.object({ amount: v.pipe(v.number(), v.minValue(1)), lines: v.array(v.object({ sku: v.string() })) }),
    'order.made': { schema: v.object({ id: v.string() }), description: 'An order was made.' },
  },
  plugins: [stamp],
})
export async function use(posthorn: Posthorn, options: Options, error: PosthornError): Promise<Endpoint> {
  const { id } = await posthorn.workspaces.ensure({ id: 'acme', name: 'Acme' })
  const endpoint = await plain.endpoints.create(id, {
    name: 'billing',
    request: { url: 'https://example.com/', method: 'POST', headers: {}, timeout: 0 },
    retry: { strategy: 'fixed', config: { attempts: [0] } },
    events: ['*'],
    rate_limit: { quota: 1, period: 1 },
    metadata: {},
  })
  await plain.plugins.create(id, { name: 'standard-webhooks', endpoint_id: endpoint.id, config: { envelope: true } })
  await typed.plugins.create(id, { name: 'stamp', endpoint_id: endpoint.id, config: { header: 'x-a' } })
  await typed.endpoints.create(id, { request: { url: '' }, events: ['invoice.paid', 'order.*'] })
  const event = await typed.events.create(id, { event_type: 'order.made', data: { id: 'o_1' }, unique_id: 'o_1' })
  const found = await typed.events.get(id, event.id)
  if (found.event_type === 'invoice.paid') console.log(found.data.lines, found.ingested_at)
  typed.on('event', (signal) => console.log(signal.event.event_type, signal.attempts))
  const { total } = await plain.events.list(id)
  const { next, data } = await plain.attempts.list(id, { limit: 10, status: 'FAILED', created_at: { gte: total } })
  for await (const attempt of plain.attempts.each(id)) console.log(attempt.response?.latency, next, data)
  await plain.config.sync(id, { endpoints: [{ id: 'a', request: { url: '' }, plugins: [{ name: 'stamp' }] }] }, { dryRun: true })
  const answers = await typed.events.createMany(id, [{ event_type: 'order.made', data: { id: 'o_2' } }])
  for (const { event: stored, created, error: refused } of answers) console.log(stored?.id, created, refused?.code)
  const { created } = await plain.events.create(id, { event_type: 'a', data: {} })
  await plain.endpoints.patch(id, endpoint.id, { request: { headers: { 'x-a': null } }, paused: created })
  const { success_rate_1h } = await plain.endpoints.health(id, endpoint.id)
  const { groups } = await plain.stats(id, { step: 'day', group_by: 'endpoint' })
  console.log(success_rate_1h, groups?.[0]?.data, await plain.eventTypes.list(id), await plain.as('ann').sources.list(id))
  await plain.events.replay(id, { status: 'FAILED' })
  await plain.endpoints.rotateSecret(id, endpoint.id, { overlap_seconds: 1 })
  console.log(error.code, error.fields, options.storage, postgres, redis, createTestPosthorn, verifyWebhook)
  await plain.start()
  await plain.stop({ timeoutMs: 1 })
  return plain.endpoints.update(id, endpoint.id, { enabled: false })
}
`
const sampleFile = resolve('test/sample.ts')

/** One a line: each is refused. */
const mistakes = [
  `typed.endpoints.create('a', { request: { url: '' }, events: ['invoice.payd'] })`,
  `typed.events.create('a', { event_type: 'order.made', data: { id: 5 } })`,
  `typed.events.create('a', { event_type: 'order.sent', data: { id: 'o_1' } })`,
  `typed.plugins.create('a', { name: 'stamp', endpoint_id: 'e', config: { heder: '' } })`,
  `typed.plugins.create('a', { name: 'basic-auth', source_id: 's' })`,
  `typed.plugins.create('a', { name: 'hmac', source_id: 's' })`,
  `typed.events.list('a').then(({ next }) => next)`,
  `typed.events.list('a', { limit: 5 }).then(({ total }) => total)`,
]
const mistakesFile = resolve('test/mistakes-of-types.ts')
const texts: Readonly<Record<string, string>> = {
  [sampleFile]: sample,
  [mistakesFile]: [`import { typed } from './sample.ts'`, ...mistakes].join('\n'),
}

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  paths: Object.fromEntries(types.map(([name, file]) => [name, [file]])),
}

let service: ts.LanguageService
let program: ts.Program
let surface: readonly EntrySurface[]

beforeAll(() => {
  const textOf = (file: string) => texts[file] ?? ts.sys.readFile(file)
  service = ts.createLanguageService({
    useCaseSensitiveFileNames: () => true,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    readDirectory: ts.sys.readDirectory,
    getScriptFileNames: () => [...Object.keys(texts), ...Object.values(entries)],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const text = textOf(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => resolve('.'),
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    readFile: textOf,
    fileExists: (file) => file in texts || ts.sys.fileExists(file),
  })
  program = service.getProgram()!
  surface = surfaceOf(program, entries)
}, 120_000)

describe('the public surface', () => {
  test('is what the report says', async () => {
    await expect(reportOf(surface)).toMatchFileSnapshot('package/api.md')
  })

  test('has a sentence for every member', () => {
    const membersOf = (of: (entry: string) => boolean) =>
      undocumented(
        surface.filter(({ entry }) => of(entry)).flatMap(({ exported, reached }) => [...exported, ...reached]),
      )
    const forHosts = membersOf((entry) => !forAdapters.has(entry))
    expect(forHosts.bare).toEqual([])
    expect(forHosts.count).toBeGreaterThan(350)
    // Contracts, their suites and the shapes of drivers tell most in the sentence of the whole; the number may only fall.
    expect(membersOf((entry) => forAdapters.has(entry)).bare.length).toBeLessThanOrEqual(225)
  })

  test('shows an example of every function', () => {
    const checker = program.getTypeChecker()
    const functions = Object.entries(entries).flatMap(([entry, file]) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file)!) // an entry is a module
      return (module === undefined ? [] : checker.getExportsOfModule(module))
        .map((each) => (each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each))
        .filter((each) => each.flags & ts.SymbolFlags.Value && checker.getTypeOfSymbol(each).getCallSignatures().length)
        .map((each) => ({ name: `${entry}: ${each.name}`, tags: each.getJsDocTags(checker) }))
    })
    expect(functions.length).toBeGreaterThan(30)
    const bare = functions.filter(({ tags }) => tags.every(({ name }) => name !== 'example'))
    expect(bare.map(({ name }) => name)).toEqual([])
  })

  test('is about forty names at the root', () => {
    const root = surface.find(({ entry }) => entry === manifest.name)!
    expect(new Set(root.exported.map(({ name }) => name)).size).toBeLessThanOrEqual(50)
  })
})

describe('in an editor', () => {
  test('what a new user writes has no error', () => {
    const problems = [...service.getSyntacticDiagnostics(sampleFile), ...service.getSemanticDiagnostics(sampleFile)]
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })

  test('no hover is longer than a screen: 25 lines, 1,200 characters', () => {
    const long: string[] = []
    // TypeScript itself repeats the catalogue of the host there.
    const most = (name: string) =>
      name === 'createPosthorn' ? { lines: 50, characters: 1600 } : { lines: 25, characters: 1200 }
    let hovers = 0
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        const info = service.getQuickInfoAtPosition(sampleFile, node.getStart())
        if (info !== undefined) {
          hovers++
          const tags = (info.tags ?? []).map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`)
          const text = [
            ts.displayPartsToString(info.displayParts),
            ts.displayPartsToString(info.documentation),
            ...tags,
          ].join('\n')
          const { lines, characters } = most(node.text)
          if (text.length > characters || text.split('\n').length > lines) long.push(`${node.text}: ${text}`)
        }
      }
      ts.forEachChild(node, visit)
    }
    visit(program.getSourceFile(sampleFile)!)
    expect(hovers).toBeGreaterThan(150)
    expect([...new Set(long)]).toEqual([])
  })

  test('a list tells its page, a catalogue its events, a plugin its config', () => {
    const typeAt = (text: string, within: string) => {
      const start = sample.indexOf(within) + within.indexOf(text)
      return ts.displayPartsToString(service.getQuickInfoAtPosition(sampleFile, start)?.displayParts)
    }
    expect(typeAt('total', '{ total }')).toBe('const total: number')
    expect(typeAt('next', '{ next, data }')).toBe('const next: string | null')
    expect(typeAt('lines', 'found.data.lines')).toMatch(/^\(property\) lines: \{\s+sku: string;\s+\}\[\]$/)
    expect(typeAt('event_type', 'signal.event.event_type')).toContain('"invoice.paid" | "order.made"')
    expect(typeAt('header', "config: { header: 'x-a' }")).toContain('header: string')
    expect(typeAt('envelope', 'envelope: true')).toContain('StandardWebhooksConfig.envelope')
  })

  test('mistakes of types are found where they are made', () => {
    const problems = service.getSemanticDiagnostics(mistakesFile)
    const file = program.getSourceFile(mistakesFile)!
    const lines = problems.map(({ start = 0 }) => file.getLineAndCharacterOfPosition(start).line)
    expect([...new Set(lines)]).toEqual(mistakes.map((_, i) => i + 1))
  })
})
