import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'
import { describe, expect, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { bundled, joined } from '../tsup.config.ts'
import { bundledInPages } from './support/pages.ts'

const leaves = ['src/errors.ts', 'src/schema', 'src/contracts']
const rules = [...leaves, 'src/core']
const context = ['src/options.ts', 'src/settings.ts', 'src/context.ts']

/** Who may import whom. A file belongs to the longest row that begins its path; within a row all may import all. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  'src/errors.ts': [],
  'src/schema': ['src/errors.ts'],
  'src/contracts': ['src/schema', 'src/errors.ts'],
  'src/core': leaves,
  'src/clock.ts': ['src/contracts'],
  'src/version.ts': [],
  'src/options.ts': leaves,
  'src/settings.ts': [...leaves, 'src/options.ts', 'src/version.ts'],
  'src/surface': leaves,
  'src/operations': ['src/surface', 'src/errors.ts', 'src/core/sentence.ts', 'src/runtime/lazy.ts'],
  'src/functions.ts': ['src/core', 'src/operations', 'src/schema', 'src/services', 'src/surface'],
  'src/context.ts': [...leaves, 'src/options.ts', 'src/settings.ts'],
  'src/client.ts': [...rules, 'src/operations', 'src/surface'],
  'src/verify.ts': [...rules, 'src/clock.ts'],
  'src/otel.ts': ['src/contracts', 'src/errors.ts', 'src/runtime/lazy.ts'],
  'src/plugins': [...rules, 'src/runtime/lazy.ts'],
  'src/runtime': ['src/contracts', 'src/core', 'src/errors.ts'],
  'src/services': [...rules, 'src/runtime', 'src/surface', ...context],
  'src/http': [...rules, 'src/version.ts', 'src/operations', 'src/runtime', 'src/services', 'src/surface', ...context],
  'src/inside.ts': [...leaves, 'src/context.ts', 'src/services'],
  'src/pages': [
    ...rules,
    // The two pages alone, built.
    'src/pages/app/dashboard/main.tsx?page',
    'src/pages/app/portal/main.tsx?page',
    // The keys of the texts, which the option `texts` gives others for.
    'src/pages/app/english/index.ts',
    'src/http',
    'src/inside.ts',
    'src/client.ts',
    'src/operations',
    'src/runtime/lazy.ts',
    'src/services',
    'src/surface',
    'src/version.ts',
    ...context,
  ],
  // The browser's part: it knows the server by the form of what the server answers.
  'src/pages/app': ['src/schema'],
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
  'src/portable.ts': [...rules, 'src/runtime/lazy.ts'],
  'src/posthorn.ts': ['src', 'adapters/memory'],
  'src/exports.ts': ['src'],
  'src/index.ts': ['src'],
  'adapters/memory': [...rules, 'src/clock.ts', 'src/runtime/slices.ts'],
  'adapters/sql': rules,
  'adapters/postgres': [...rules, 'adapters/sql', 'src/clock.ts', 'src/runtime/slices.ts'],
  'adapters/redis': [...rules, 'src/clock.ts', 'src/runtime/slices.ts'],
  'adapters/node': [...rules, 'src/runtime/lazy.ts'],
  'adapters/node/index.ts': ['src', 'adapters/node'],
  // It uses the package by its name, as everybody does, but for the rule of what an event type matches.
  'adapters/cli': ['src/core/match.ts'],
}

const files = ['src', 'adapters'].flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => {
      const name = join(top, path)
      const text = readFileSync(name, 'utf8')
      return { name, text, room: roomOf(name), imports: importsOf(name, text), code: codeOf(text) }
    }),
)

/** Without the pages, which run in a browser. */
const ofServer = files.filter(({ room }) => room !== 'src/pages/app')

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
  const compilerOptions = { target, verbatimModuleSyntax: true, removeComments: true, jsx: ts.JsxEmit.Preserve }
  return ts.transpileModule(text, { compilerOptions, fileName: 'a.tsx' }).outputText
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

  test('no file imports itself by way of others, be it for a type or late', () => {
    const graph = new Map(files.map(({ name, imports }) => [name, imports]))
    const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
      (graph.get(from) ?? []).some((next) => next === goal || (!seen.has(next) && reaches(next, goal, seen.add(next))))
    expect([...graph.keys()].filter((name) => reaches(name, name))).toEqual([])
  })
})

describe('loading late', () => {
  test('everywhere in src a module is loaded late by lazy() alone', () => {
    const others = files
      .filter(({ name }) => name.startsWith('src/') && name !== 'src/runtime/lazy.ts')
      .flatMap(({ name, text }) => lateImports(name, text).filter(({ isLazy }) => !isLazy))
    expect(others.map(({ place }) => place)).toEqual([])
  })
})

/** The places of `import()` in a file, and whether each stands inside a call of `lazy`. */
function lateImports(name: string, text: string): readonly { readonly place: string; readonly isLazy: boolean }[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest)
  const found: { place: string; isLazy: boolean }[] = []
  const visit = (node: ts.Node, isLazy: boolean): void => {
    const isCall = ts.isCallExpression(node)
    if (isCall && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      found.push({ place: `${name}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`, isLazy })
    }
    const isCallOfLazy = isCall && ts.isIdentifier(node.expression) && node.expression.text === 'lazy'
    ts.forEachChild(node, (child) => visit(child, isLazy || isCallOfLazy))
  }
  visit(file, false)
  return found
}

describe('nothing ambient', () => {
  test('packages are those that the manifest declares, and node: modules stand in adapters/node and adapters/cli alone', () => {
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const ofRooms: Readonly<Record<string, readonly string[]>> = {
      'src/core': [joined],
      'adapters/cli': [manifest.name, ...bundled],
      'src/pages/app': [...bundledInPages, 'vite'],
    }
    const strangers = files.flatMap(({ name, imports, room }) =>
      imports
        .filter((target) => !/^(src|adapters)\//.test(target))
        .filter((target) => !(target.startsWith('node:') && /^adapters\/(node|cli)\/|vite\.config\.ts$/.test(name)))
        .filter((target) =>
          [...declared, ...(ofRooms[room ?? ''] ?? [])].every(
            (other) => target !== other && !target.startsWith(`${other}/`),
          ),
        )
        .map((target) => `${name} -> ${target}`),
    )
    expect(strangers).toEqual([])
  })

  test('the time is read in one file, in the command line too, and chance comes through the platform', () => {
    const readers = ofServer.filter(({ code }) => /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(code))
    expect(readers.map(({ name }) => name).toSorted()).toEqual(['adapters/cli/now.ts', 'src/clock.ts'])
  })
})

/**
 * The lengths of all functions of a file, in lines between the braces, inner functions included. Statements and tables do
 * not count: the text of SQL and Lua, the markup of pages, and functions that stand in an object or in a list, each of which is measured alone.
 */
function functionLengths(name: string, text: string): readonly { readonly name: string; readonly lines: number }[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
  const linesOf = (node: ts.Node): readonly [number, number] => [
    file.getLineAndCharacterOfPosition(node.getStart(file)).line,
    file.getLineAndCharacterOfPosition(node.end).line,
  ]
  const found: { name: string; lines: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const [first, last] = linesOf(node.body)
      const left = new Set<number>()
      const leave = (of: ts.Node, edge: number): void => {
        const [from, to] = linesOf(of)
        for (let line = from + edge; line <= to - edge; line++) left.add(line)
      }
      const look = (inner: ts.Node): void => {
        if (ts.isTemplateLiteral(inner) || ts.isJsxElement(inner) || ts.isJsxFragment(inner)) leave(inner, 1)
        if (ts.isJsxSelfClosingElement(inner)) leave(inner, 1)
        if (ts.isObjectLiteralExpression(inner)) {
          for (const member of inner.properties) if (isFunction(member)) leave(member, 0)
        }
        if (ts.isArrayLiteralExpression(inner)) {
          for (const element of inner.elements) if (ts.isFunctionLike(element)) leave(element, 0)
        }
        ts.forEachChild(inner, look)
      }
      ts.forEachChild(node.body, look)
      found.push({ name: `${name}:${first + 1}`, lines: last - first + 1 - left.size })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function isFunction(member: ts.ObjectLiteralElementLike): boolean {
  if (ts.isMethodDeclaration(member) || ts.isAccessor(member)) return true
  return ts.isPropertyAssignment(member) && ts.isFunctionLike(member.initializer)
}

describe('short enough to read', () => {
  test('no function is longer than 60 lines, but for statements and tables', () => {
    const measured = files.flatMap(({ name, text }) => functionLengths(name, text))
    expect(measured.length).toBeGreaterThan(3000)
    expect(measured.filter(({ lines }) => lines > 60)).toEqual([])
  })

  test('half of all files are shorter than 90 lines, and none is longer than 350', () => {
    const lengths = files.map(({ text }) => text.trimEnd().split('\n').length).toSorted((a, b) => a - b)
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThan(90)
    expect(lengths.at(-1)).toBeLessThanOrEqual(350)
  })

  test('the story of a delivery is shorter than 150 lines', () => {
    const story = files.find(({ name }) => name === 'src/worker/deliveries.ts')
    expect(story?.text.trimEnd().split('\n').length).toBeLessThan(150)
  })

  test('a function is measured from brace to brace, without statements and tables', () => {
    const text = [
      'function outer() {',
      '  const inner = () => {',
      '  }',
      '  const statement = sql`',
      '    select 1',
      '  `',
      '  return {',
      '    method() {',
      '      run()',
      '    },',
      '  }',
      '}',
    ].join('\n')
    expect(functionLengths('a.ts', text)).toEqual([
      { name: 'a.ts:1', lines: 8 },
      { name: 'a.ts:2', lines: 2 },
      { name: 'a.ts:8', lines: 3 },
    ])
  })
})
