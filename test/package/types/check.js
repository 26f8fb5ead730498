import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// Compiles what a host writes against the package as published: by each version of TypeScript and each resolution of modules,
// without the DOM, and with the declarations themselves checked.

const here = fileURLToPath(new URL('.', import.meta.url))
const root = resolve(here, '../../..')
const checks = join(here, '..')
const versions = ['5.4', '5.9', '6.0', '7.0']

/** A folder with the two sources and the packed package, whose dependencies are those of this repository. */
function host() {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-types-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'posthorn'), { recursive: true })
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const tarball = join(folder, packed.trim())
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'posthorn')])
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.') && name !== 'posthorn') symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  for (const name of ['use.ts', 'entries.ts']) cpSync(join(here, name), join(folder, name))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return folder
}

/** The errors of a compilation. Declarations of other packages are those packages' affair. */
function errorsOf(version, folder, options, files) {
  const config = join(folder, 'tsconfig.json')
  const compilerOptions = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022'], types: ['node'], ...options }
  writeFileSync(config, JSON.stringify({ compilerOptions, files }))
  const alias = join(checks, 'node_modules', `typescript-${version}`)
  const { bin, version: exact } = JSON.parse(readFileSync(join(alias, 'package.json'), 'utf8'))
  if (!exact.startsWith(version)) throw new Error(`TypeScript ${exact} stands where ${version} should`)
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(alias, bin.tsc), '-p', config, '--pretty', 'false'],
    {
      encoding: 'utf8',
      cwd: folder,
    },
  )
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => /error|Error/.test(line))
  const ours = lines.filter((line) => !/node_modules\/(?!posthorn\/)/.test(line))
  return status === 0 || lines.length > ours.length ? ours : ours.length > 0 ? ours : [`tsc ended with ${status}`]
}

const both = ['use.ts', 'entries.ts']
const resolutions = [
  { name: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler' }, files: both, versions },
  { name: 'nodenext', options: { module: 'nodenext', moduleResolution: 'nodenext' }, files: both, versions },
  // TypeScript 6 deprecates it and 7 has it no more. It does not know `exports`: the root alone resolves.
  {
    name: 'node10',
    options: { module: 'esnext', moduleResolution: 'node10' },
    files: ['use.ts'],
    versions: ['5.4', '5.9'],
  },
]

const folder = host()
let failed = 0
try {
  for (const { name, options, files, versions: supported } of resolutions) {
    for (const version of supported) {
      const errors = errorsOf(version, folder, options, files)
      failed += errors.length
      process.stdout.write(`TypeScript ${version}, ${name}: ${errors.length === 0 ? 'ok' : errors.join('\n  ')}\n`)
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
process.exitCode = failed === 0 ? 0 : 1
