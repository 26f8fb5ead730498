import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

import pg from 'pg'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { freePort } from './support/postgres.ts'
import { program } from './support/program.ts'

const readme = readFileSync('README.md', 'utf8')
const folder = resolve('.build/readme')
const slow = { timeout: 120_000 }

/** The code of the README, as files beside which the package answers to its name. */
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ''], i) => {
  const heading =
    readme
      .slice(0, readme.indexOf(code))
      .match(/^#+ .*$/gm)
      ?.at(-1) ?? ''
  return { code, title: heading.replace(/^#+ /, ''), file: `${folder}/${i}.ts`, script: `${folder}/${i}.js` }
})

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { code, file, script } of blocks) {
    writeFileSync(file, code)
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
    writeFileSync(script, ts.transpileModule(code, { compilerOptions }).outputText)
  }
})

test('all code of the README type-checks against the built package', slow, () => {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
  }
  const files = blocks.map(({ file }) => file)
  const problems = ts
    .getPreEmitDiagnostics(ts.createProgram(files, options))
    .map((each) => `${each.file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(each.messageText, '\n')}`)
  expect(files.length).toBeGreaterThan(5)
  expect(problems).toEqual([])
})

describe('the code of the README runs', () => {
  const name = `readme_${process.pid}`
  const database = inject('postgresUrl')
  const admin = new pg.Pool({ connectionString: database ?? '' })
  const url = new URL(database ?? 'postgres://none')
  url.pathname = `/${name}`
  beforeAll(async () => {
    if (database !== null) await admin.query(`create database ${name}`)
  })
  afterAll(async () => {
    if (database !== null) await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })

  const [embed, ...others] = blocks as [(typeof blocks)[number], ...typeof blocks]

  test('the embed delivers', slow, async () => {
    expect(embed.code.trim().split('\n').length).toBeLessThanOrEqual(25)
    const port = String(await freePort())
    writeFileSync(embed.script, readFileSync(embed.script, 'utf8').replaceAll('4000', port))
    const running = program(process.execPath, [embed.script])
    onTestFinished(() => void running.stop())
    expect(await running.says(/^received/)).toBe('received order.paid')
    expect(await running.says(/^[A-Z]+ /)).toBe('SUCCESSFUL 200')
  })

  const needsDatabase = ({ code }: { code: string }) => code.includes('DATABASE_URL')
  const run = async ({ code, script }: { code: string; script: string }) => {
    const output = await program(process.execPath, [script], { env: { DATABASE_URL: url.href } }).ended()
    for (const [, promised] of code.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)) expect(output).toContain(promised)
  }
  test.each(others.filter((block) => !needsDatabase(block)))('$title', slow, run)
  test.skipIf(database === null).each(others.filter(needsDatabase))('$title', slow, run)
})

test('its commands and links are there', () => {
  const scripts = [...readme.matchAll(/npm (?:run )?(demo|start|test|bench|[a-z:]+)(?= |`|$)/gm)].map(
    ([, name]) => name!,
  )
  const builtIn = new Set(['ci', 'i', 'pack', 'registry'])
  expect(scripts.filter((name) => !builtIn.has(name) && !Object.hasOwn(manifest.scripts, name))).toEqual([])
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path!)
  expect(links.filter((path) => !existsSync(path))).toEqual([])
  const anchors = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
  const headings = new Set(
    [...readme.matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
      text!
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
  expect(anchors.filter((anchor) => !headings.has(anchor!))).toEqual([])
})
