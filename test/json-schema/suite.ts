// The official test suite: prints how many of its required tests pass, and fails below what other validators reach.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { RE2JS } from 're2js'

import { metaSchemas } from '../../src/plugins/event-validation/meta/index.ts'
import { patternCompiler } from '../../src/plugins/event-validation/pattern.ts'
import { dialects, type Document, type Schema, type Version } from '../../src/plugins/event-validation/schema.ts'
import { readSchema } from '../../src/plugins/event-validation/validator.ts'

interface Group {
  readonly description: string
  readonly schema: Schema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const fromDebian = '/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance'
const checkout = process.env.JSON_SCHEMA_TEST_SUITE ?? (existsSync(fromDebian) ? fromDebian : undefined)
const root = checkout ?? dirname(createRequire(import.meta.url).resolve('json-schema-test-suite/package.json'))
/** Passed of all, in percent, by @cfworker/json-schema 4.1.6. */
const floors: readonly (readonly [directory: string, version: Version, percent: number])[] = [
  ['draft4', 'draft-04', 99.0],
  ['draft6', 'draft-06', 99.1],
  ['draft7', 'draft-07', 99.3],
  ['draft2019-09', 'draft-2019-09', 99.5],
  ['draft2020-12', 'draft-2020-12', 96.6],
]
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const patterns = patternCompiler(RE2JS)

/** The documents that the suite serves from a host, with the address of each as its id. */
function remotes(drafts: string, version: Version): readonly Document[] {
  if (checkout === undefined) return []
  const directory = join(root, 'remotes')
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json') && (!path.startsWith('draft') || path.startsWith(`${drafts}/`)))
    .flatMap((path) => {
      const document = read(join(directory, path))
      if (typeof document !== 'object') return []
      const { id } = dialects[version]
      const address = `http://localhost:1234/${path}`
      const placed: Document = { [id]: address, ...document }
      const own = new URL(String(placed[id]), address).href
      // One whose id is another than its address is found by both.
      return own === address ? [placed] : [placed, { [id]: address, allOf: [{ $ref: own }] }]
    })
}

for (const [directory, version, floor] of floors) {
  const folder = join(root, 'tests', directory)
  let files: readonly string[]
  try {
    files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  } catch {
    say(`${version.padEnd(14)} not in this suite`)
    continue
  }
  const documents = [...metaSchemas[version], ...remotes(directory, version)]
  const missed = new Map<string, number>()
  let total = 0
  for (const file of files) {
    for (const { schema, tests } of read(join(folder, file)) as Group[]) {
      const { validate } = readSchema(schema, dialects[version], documents, patterns)
      for (const { data, valid } of tests) {
        total++
        if ((validate(data).length === 0) !== valid) missed.set(file, (missed.get(file) ?? 0) + 1)
      }
    }
  }
  const misses = [...missed.values()].reduce((sum, count) => sum + count, 0)
  const percent = (100 * (total - misses)) / total
  const where = [...missed].map(([file, count]) => `${file} ${count}`).join(', ')
  say(`${version.padEnd(14)} ${total - misses} of ${total} (${percent.toFixed(1)} %)${where && `; missed: ${where}`}`)
  // Without the remote documents, the tests of references to them cannot pass.
  if (percent < (checkout === undefined ? 98 : floor)) process.exitCode = 1
}
