import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync } from 'node:zlib'

import { build, type Plugin } from 'esbuild'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { version } from '../src/version.ts'
import { entries, joined } from '../tsup.config.ts'

type Target = string | Readonly<Record<string, string>>

const exported = Object.entries<Target>(manifest.exports).filter(([path]) => path !== './package.json')
const names = exported.map(([path]) => path.replace(/^\./, manifest.name))

/** A project that has installed the packed package and nothing else. */
let consumer: string
let packed: readonly { path: string }[]

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'posthorn-consumer-'))
  const [tarball] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', consumer], '.')) as [
    { filename: string; files: readonly { path: string }[] },
  ]
  packed = tarball.files
  const home = join(consumer, 'node_modules', manifest.name)
  mkdirSync(home, { recursive: true })
  run('tar', ['-xzf', join(consumer, tarball.filename), '-C', home, '--strip-components=1'], '.')
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const place = join(consumer, 'node_modules', dependency)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(resolve('node_modules', dependency), place)
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
}, 120_000)

afterAll(() => rmSync(consumer, { recursive: true }))

function run(command: string, args: readonly string[], cwd = consumer): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The names that each module has when Node loads it in the consumer. */
function load(modules: readonly string[]): Record<string, string[]> {
  const script = `
    const modules = ${JSON.stringify(modules)}
    const loaded = modules.map(async (name) => [name, Object.keys(await import(name))])
    console.log(JSON.stringify(Object.fromEntries(await Promise.all(loaded))))`
  return JSON.parse(run(process.execPath, ['--input-type=module', '-e', script])) as Record<string, string[]>
}

/** Type-checks a file of the consumer, the declarations of all packages included. */
function check(source: string, options: ts.CompilerOptions): { program: ts.Program; problems: string[] } {
  const file = join(consumer, 'index.ts')
  writeFileSync(file, source)
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    ...options,
  })
  const problems = ts
    .getPreEmitDiagnostics(program)
    .map((each) => `${each.file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(each.messageText, '\n')}`)
  return { program, problems }
}

describe('what the package holds', () => {
  test('exports, the entries of the build and the files agree both ways', () => {
    const targets = exported.flatMap(([, target]) => (typeof target === 'string' ? target : Object.values(target)))
    const built = Object.keys(entries).flatMap((entry) => [`./dist/${entry}.d.ts`, `./dist/${entry}.js`])
    expect([...new Set(targets)].toSorted()).toEqual(built.toSorted())
    expect(packed.map(({ path }) => `./${path}`)).toEqual(expect.arrayContaining(built))
  })

  test('the version is that of the manifest', () => {
    expect(version).toBe(manifest.version)
  })

  test('the tarball holds what runs, its types and its papers', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', `dist/LICENSE-${joined}.txt`, 'package.json']
    const others = packed.map(({ path }) => path).filter((path) => !/^dist\/.*(\.js|\.js\.map|\.d\.ts)$/.test(path))
    expect(others.toSorted()).toEqual(papers)
  })

  test('public declarations speak of no package', () => {
    const declarations = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.d.ts'),
    )
    const mentioned = declarations.flatMap((path) =>
      ts
        .preProcessFile(readFileSync(join('dist', path), 'utf8'), true, true)
        .importedFiles.map(({ fileName }) => fileName)
        .filter((name) => !name.startsWith('.')),
    )
    expect([...new Set(mentioned)]).toEqual([])
  })
})

describe('a project that installed the package', () => {
  const whole = names.map((name, i) => `import * as entry${i} from '${name}'`).join('\n')
  const embed = `
    import { createPosthorn, PosthornError, type Options } from 'posthorn'
    import { memory } from 'posthorn/memory'
    ${whole}
    const options: Options = { storage: memory(), deliver: { concurrency: 4 } }
    const posthorn = createPosthorn(options)
    export const handler: (request: Request) => Promise<Response> = (request) => posthorn.admin.fetch(request)
    export const isOurs = (error: unknown): boolean => error instanceof PosthornError && error.code === 'not_found'
    export const entries = [${names.map((_, i) => `entry${i}`).join(', ')}]`

  test.each([
    ['nodenext', { module: ts.ModuleKind.NodeNext, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }],
    ['bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ])('type-checks under %s, our declarations included', { timeout: 120_000 }, (_, options) => {
    expect(check(embed, options).problems).toEqual([])
  })

  test('finds the names that the declarations promise, under every condition', { timeout: 120_000 }, () => {
    const { program } = check(whole, { module: ts.ModuleKind.NodeNext })
    const checker = program.getTypeChecker()
    const promised = (name: string) => {
      const { types } = (manifest.exports as Record<string, Target>)[name.replace(manifest.name, '.')] as {
        types: string
      }
      const file = program.getSourceFile(join(consumer, 'node_modules', manifest.name, types))
      const symbol = file && checker.getSymbolAtLocation(file)
      return symbol ? checker.getExportsOfModule(symbol) : []
    }
    const values = (symbols: readonly ts.Symbol[] = []) =>
      symbols
        .filter(
          (each) =>
            (each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each).flags & ts.SymbolFlags.Value,
        )
        .map((each) => each.name)
    const surface = Object.fromEntries(names.map((name) => [name, promised(name)]))
    const portable = './node_modules/posthorn/dist/index.js'
    const { posthorn = [], ...loaded } = load([...names, portable])

    expect(posthorn).toEqual(loaded['posthorn/node'])
    expect(posthorn).toEqual(expect.arrayContaining(values(surface.posthorn)))
    for (const [name, found] of Object.entries(loaded)) {
      expect([name, found.toSorted()]).toEqual([name, values(surface[name] ?? surface.posthorn).toSorted()])
    }
    expect(
      Object.fromEntries(Object.entries(surface).map(([name, all]) => [name, all.map((each) => each.name).toSorted()])),
    ).toMatchSnapshot()
  })

  test('may require it', () => {
    const script = `console.log(typeof require('posthorn').createPosthorn, typeof require('posthorn/memory').memory)`
    expect(run(process.execPath, ['--input-type=commonjs', '-e', script])).toBe('function function\n')
  })
})

describe('what it weighs', () => {
  /** `import()` stays as it is, and with it all that is loaded on demand. */
  const onDemandApart: Plugin = {
    name: 'on-demand-apart',
    setup: ({ onResolve }) =>
      onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : null)),
  }

  /** Kilobytes of all that a file imports statically, its dependencies included: one file, minified, brotli. Peers stay out. */
  async function kilobytes(file: string): Promise<number> {
    const { outputFiles } = await build({
      entryPoints: [file],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      external: ['node:*', ...Object.keys(manifest.peerDependencies)],
      plugins: [onDemandApart],
      logLevel: 'error',
      write: false,
    })
    return brotliCompressSync(outputFiles[0]!.contents).length / 1000
  }

  // `index` is the portable entry: router and validation, without an engine and the worker. 9 kB of it are lru-cache and ipaddr.js.
  const budgets: Readonly<Record<string, number>> = {
    index: 48,
    client: 4,
    verify: 3,
    otel: 3,
    'event-validation/index': 30,
    'function/index': 18,
    'memory/index': 16,
    'node/index': 57,
    'postgres/index': 48,
    'redis/index': 42,
    // With the page, which browsers load: most of the weight.
    'pages/dashboard': 110,
    'pages/portal': 110,
    'pages/portal-client': 5,
  }

  test('contracts are types alone', async () => expect(await kilobytes('dist/contracts/index.js')).toBeLessThan(0.1))

  test.each(Object.entries(budgets))('%s stays below %i kB', async (entry, budget) => {
    const size = await kilobytes(`dist/${entry}.js`)
    expect(size).toBeGreaterThan(0.1)
    expect(size).toBeLessThan(budget)
  })
})
