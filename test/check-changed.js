// Checks what a change touches: format, lint and types of the changed files, and the tests that are nearest to them.
// `npm run check:changed` looks at what differs from the last commit, `npm run check:changed -- main` from a branch.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, normalize } from 'node:path'

const [base = 'HEAD'] = process.argv.slice(2)
const lines = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
const changed = [
  ...new Set([...lines('diff', '--name-only', base), ...lines('ls-files', '--others', '--exclude-standard')]),
].filter((path) => existsSync(path))
const sources = changed.filter((path) => /\.[jt]s$/.test(path))

const say = (text) => process.stdout.write(`${text}\n`)

/** Tests that were changed, that import a changed file, that have its name, or that hold the rules of all files. */
function nearestTests() {
  const all = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((path) => join('test', path))
    .filter((path) => path.endsWith('.test.ts') && !/^test\/(cli|clients|interop|runtime|transactions)\//.test(path))
  const names = new Set(sources.map((path) => `${basename(path, '.ts')}.test.ts`))
  const engines = new Set(sources.flatMap((path) => /^adapters\/(memory|postgres|redis)\//.exec(path)?.[1] ?? []))
  const isNear = (test) => {
    if (sources.includes(test) || names.has(basename(test))) return true
    if ([...engines].some((engine) => test === `test/contract/${engine}.test.ts`)) return true
    const imports = readFileSync(test, 'utf8').matchAll(/from '(\.[^']+)'/g)
    return [...imports].some(([, path]) => sources.includes(normalize(join(test, '..', path))))
  }
  return ['test/architecture.test.ts', 'test/contributing.test.ts', ...all.filter(isNear)]
}

/** Runs a step and says how long it took. */
function step(name, command, ...args) {
  const since = performance.now()
  const { status } = spawnSync('npx', ['--no-install', command, ...args], { stdio: 'inherit' })
  say(`${status === 0 ? 'ok' : 'FAILED'}: ${name}, ${((performance.now() - since) / 1000).toFixed(0)} s`)
  if (status !== 0) process.exitCode = 1
}

if (changed.length === 0) say(`nothing differs from ${base}`)
else {
  step('format', 'oxfmt', '--check', '--no-error-on-unmatched-pattern', ...changed)
  if (sources.length > 0) {
    step('lint', 'oxlint', '--type-aware', '--deny-warnings', ...sources)
    step('types', 'tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', '.build/changed.tsbuildinfo')
  }
  const tests = [...new Set(nearestTests())]
  step(`${tests.length} test files`, 'vitest', 'run', '--config', 'test/vitest.config.ts', '--reporter=dot', ...tests)
}
