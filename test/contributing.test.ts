import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { memory } from '../adapters/memory/index.ts'
import manifest from '../package.json' with { type: 'json' }
import { operations } from '../src/operations/table.ts'
import { summaries } from '../src/operations/summaries.ts'
import { endpoint, workspace } from '../src/testing/storage/rows.ts'
import { entries } from '../tsup.config.ts'

const page = readFileSync('.github/CONTRIBUTING.md', 'utf8')

/** The paths that a section of "Where do I put it?" names. */
function pathsOf(change: string): readonly string[] {
  const section = page.split(/^### /m).find((each) => each.startsWith(`${change}\n`)) ?? ''
  return [...section.split(/^## /m)[0]!.matchAll(/`([\w.-]+(?:\/[\w.-]*)+|[\w-]+(?:\.config)?\.(?:ts|json))`/g)].map(
    ([, path]) => path!,
  )
}

/** The sources in which a text stands. */
function sourcesWith(text: RegExp, ...rooms: readonly string[]): readonly string[] {
  return rooms
    .flatMap((room) => readdirSync(room, { recursive: true, encoding: 'utf8' }).map((path) => join(room, path)))
    .filter((path) => path.endsWith('.ts') && text.test(readFileSync(path, 'utf8')))
}

describe('"Where do I put it?"', () => {
  test.each(['A field', 'An operation', 'A plugin', 'An engine'])(
    '%s: the files that are named are there',
    (change) => {
      const named = pathsOf(change).filter((path) => !path.startsWith('posthorn/'))
      expect(named.length).toBeGreaterThanOrEqual(4)
      expect(named.filter((path) => !existsSync(path))).toEqual([])
    },
  )

  test('a field: no engine, service or handler names a field that is only stored and shown', async () => {
    const rooms = ['src/services', 'src/worker', 'src/core', 'adapters/memory', 'adapters/redis', 'adapters/sql']
    // Workspaces and event types have a description too: services write the default workspace, and answer the catalogue.
    expect(sourcesWith(/\bdescription\b/, ...rooms)).toEqual([
      'src/services/event-types.ts',
      'src/services/resolve-workspace.ts',
    ])
    expect(pathsOf('A field')).toEqual(
      expect.arrayContaining(sourcesWith(/\bdescription: null/, 'src/testing').filter((path) => path.includes('rows'))),
    )
    const storage = memory()
    await storage.workspaces.insert(workspace('w'))
    const row = { ...endpoint('e'), colour: 'blue' }
    await storage.endpoints.insert('w', row)
    expect((await storage.endpoints.get('w', 'e'))?.row).toEqual(row)
  })

  test('an operation: each has a sentence, and the example is found where the list says', () => {
    expect(Object.keys(summaries).toSorted()).toEqual(Object.keys(operations).toSorted())
    const places = sourcesWith(/\bensureWorkspace\b|'workspaces\.ensure'|\bEnsureWorkspaceInput\b|\bensure\(/, 'src')
    const folders = pathsOf('An operation').filter((path) => path.endsWith('/'))
    const named = new Set(pathsOf('An operation'))
    const others = places.filter((path) => !named.has(path) && !folders.some((folder) => path.startsWith(folder)))
    // The public interface is exported by name.
    expect(others.filter((path) => !/^src\/(exports|surface)/.test(path))).toEqual([])
  })

  test.each(['key-auth', 'hmac-auth'])('a plugin: %s is named by the files of the list alone', (name) => {
    const named = pathsOf('A plugin').map((path) => path.replace('key-auth', name))
    const places = sourcesWith(new RegExp(`'${name}'|'./${name}.ts'`), 'src', 'adapters', 'test/plugins')
    const tests = new Set(['test/plugins/end-to-end.test.ts', 'test/plugins/registry.test.ts'])
    expect(places.filter((path) => !tests.has(path)).toSorted()).toEqual(
      named.filter((path) => path.includes('plugin') && path.endsWith('.ts')).toSorted(),
    )
  })

  test.each(['memory', 'postgres', 'redis'])('an engine: %s has all that the list names', (engine) => {
    expect(existsSync(`adapters/${engine}/index.ts`)).toBe(true)
    expect(existsSync(`test/contract/${engine}.test.ts`)).toBe(true)
    expect(entries[`${engine}/index`]).toBe(`adapters/${engine}/index.ts`)
    expect(Object.keys(manifest.exports)).toContain(`./${engine}`)
    expect(readFileSync('test/architecture.test.ts', 'utf8')).toContain(`'adapters/${engine}'`)
  })
})
