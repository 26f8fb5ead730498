import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'
import { describe, expect, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { bundled } from '../tsup.config.ts'

const leaves = ['src/errors.ts', 'src/schema', 'src/contracts']
const rules = [...leaves, 'src/core']
const context = ['src/options.ts', 'src/context.ts']

/** Who may import whom. A file belongs to the longest row that begins its path; within a row all may import all. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  'src/errors.ts': [],
  'src/schema': ['src/errors.ts'],
  'src/contracts': ['src/schema', 'src/errors.ts'],
  'src/core': leaves,
  'src/clock.ts': ['src/contracts'],
  'src/version.ts': [],
  'src/options.ts': [...leaves, 'src/version.ts'],
  'src/surface': leaves,
  'src/operations': ['src/surface'],
  'src/functions.ts': ['src/core', 'src/operations', 'src/schema', 'src/services', 'src/surface'],
  'src/context.ts': [...leaves, 'src/options.ts', 'src/runtime', 'src/services'],
  'src/client.ts': [...rules, 'src/operations', 'src/surface'],
  'src/verify.ts': [...rules, 'src/clock.ts'],
  'src/otel.ts': ['src/contracts', 'src/errors.ts'],
  'src/plugins': rules,
  'src/runtime': rules,
  'src/services': [...rules, 'src/runtime', 'src/surface', ...context],
  'src/http': [...rules, 'src/version.ts', 'src/operations', 'src/runtime', 'src/services', 'src/surface', ...context],
  'src/worker': [
    'src/runtime',
    'src/services',
    'src/surface',
    'src/contracts',
    'src/core',
    'src/clock.ts',
    'src/errors.ts',
    ...context,
  ],
  'src/testing': ['src', 'adapters/memory'],
  'src/portable.ts': rules,
  'src/posthorn.ts': ['src', 'adapters/memory'],
  'src/exports.ts': ['src'],
  'src/index.ts': ['src'],
  'adapters/memory': [...rules, 'src/clock.ts'],
  'adapters/postgres': rules,
  'adapters/redis': rules,
  'adapters/node': rules,
  'adapters/node/index.ts': ['src', 'adapters/node'],
  // It uses the package by its name, as everybody does, but for the rule of what an event type matches.
  'adapters/cli': ['src/core/match.ts'],
}

const files = ['src', 'adapters'].flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const name = join(top, path)
      const text = readFileSync(name, 'utf8')
      return { name, text, room: roomOf(name), imports: importsOf(name, text), code: codeOf(text) }
    }),
)

function roomOf(name: string): string | undefined {
  return Object.keys(rooms)
    .filter((room) => name === room || name.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** What a file imports, types included: paths of ours resolved, names of packages as they stand. */
function importsOf(name: string, text: string): readonly string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => (fileName.startsWith('.') ? join(name, '..', fileName) : fileName))
}

/** The file without types and comments. */
function codeOf(text: string): string {
  const target = ts.ScriptTarget.ES2023
  return ts.transpileModule(text, { compilerOptions: { target, verbatimModuleSyntax: true, removeComments: true } })
    .outputText
}

describe('the rooms', () => {
  test('every file has a room', () => {
    expect(files.filter(({ room }) => room === undefined).map(({ name }) => name)).toEqual([])
  })

  test('nothing imports the command line', () => {
    const users = files.filter(({ room, imports }) => {
      return room !== 'adapters/cli' && imports.some((target) => target.startsWith('adapters/cli'))
    })
    expect(users.map(({ name }) => name)).toEqual([])
  })

  test('a file imports only from the rooms beside its own that the table gives it', () => {
    const trespasses = files.flatMap(({ name, room = '', imports }) =>
      imports
        .filter((target) => /^(src|adapters|test|examples)\//.test(target) && roomOf(target) !== room)
        .filter((target) => !rooms[room]?.some((other) => target === other || target.startsWith(`${other}/`)))
        .map((target) => `${name} -> ${target}`),
    )
    expect(trespasses).toEqual([])
  })

  test('core and http know contracts by their types alone', () => {
    const bound = files
      .filter(({ room = '' }) => ['src/core', 'src/http'].includes(room))
      .filter(({ name, code }) => importsOf(name, code).some((target) => target.startsWith('src/contracts/')))
    expect(bound.map(({ name }) => name)).toEqual([])
  })

  test('no file imports itself by way of others', () => {
    const graph = new Map(files.map(({ name, code }) => [name, importsOf(name, code)]))
    const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
      (graph.get(from) ?? []).some((next) => next === goal || (!seen.has(next) && reaches(next, goal, seen.add(next))))
    expect([...graph.keys()].filter((name) => reaches(name, name))).toEqual([])
  })
})

describe('nothing ambient', () => {
  test('packages are those that the manifest declares, and node: modules stand in adapters/node and adapters/cli alone', () => {
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const ofCommandLine = [manifest.name, ...bundled]
    const strangers = files.flatMap(({ name, imports, room }) =>
      imports
        .filter((target) => !/^(src|adapters)\//.test(target))
        .filter((target) => !(target.startsWith('node:') && /^adapters\/(node|cli)\//.test(name)))
        .filter((target) =>
          [...declared, ...(room === 'adapters/cli' ? ofCommandLine : [])].every(
            (other) => target !== other && !target.startsWith(`${other}/`),
          ),
        )
        .map((target) => `${name} -> ${target}`),
    )
    expect(strangers).toEqual([])
  })

  test('the time is read in one file, in the command line too, and chance comes through the platform', () => {
    const readers = files.filter(({ code }) => /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(code))
    expect(readers.map(({ name }) => name).toSorted()).toEqual(['adapters/cli/now.ts', 'src/clock.ts'])
  })
})

/** The lengths of all functions of a file, in lines: everything between the braces, inner functions included. */
function functionLengths(name: string, text: string): readonly { readonly name: string; readonly lines: number }[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest)
  const lineOf = (position: number): number => file.getLineAndCharacterOfPosition(position).line
  const found: { name: string; lines: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = lineOf(node.body.getStart(file))
      found.push({ name: `${name}:${first + 1}`, lines: lineOf(node.body.end) - first + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

describe('short enough to read', () => {
  const shortRooms = new Set(['src/contracts', 'src/core', 'src/runtime', 'src/schema', 'src/services', 'src/worker'])
  /** Files of these rooms that have still to be shortened. */
  const long = new Set(['src/runtime/batcher.ts', 'src/services/ingest.ts'])

  test('no function of these rooms is longer than 60 lines', () => {
    const measured = files
      .filter(({ name, room = '' }) => shortRooms.has(room) && !long.has(name))
      .flatMap(({ name, text }) => functionLengths(name, text))
    expect(measured.length).toBeGreaterThan(100)
    expect(measured.filter(({ lines }) => lines > 60)).toEqual([])
  })

  test('the story of a delivery is shorter than 150 lines', () => {
    const story = files.find(({ name }) => name === 'src/worker/deliveries.ts')
    expect(story?.text.trimEnd().split('\n').length).toBeLessThan(150)
  })

  test('a function is measured from brace to brace, inner functions included', () => {
    const text = `function outer() {\n  return {\n    inner() {\n    },\n  }\n}\nconst short = () => {\n}\n`
    expect(functionLengths('a.ts', text)).toEqual([
      { name: 'a.ts:1', lines: 6 },
      { name: 'a.ts:3', lines: 2 },
      { name: 'a.ts:7', lines: 2 },
    ])
  })
})
