import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'

import { commands, suiteDatabase } from '../support/cli.ts'
import { commandsOf, type ContainerFiles, instructionsOf, isWrong, user } from '../support/container.ts'
import { freePort } from '../support/postgres.ts'
import { program } from '../support/program.ts'

const slow = { timeout: 120_000 }
const read = (name: string) => readFileSync(join('examples/container', name), 'utf8')
const files: ContainerFiles = {
  Dockerfile: read('Dockerfile'),
  'compose.yaml': read('compose.yaml'),
  'kubernetes.yaml': read('kubernetes.yaml'),
}

const names = Object.keys(files) as (keyof ContainerFiles)[]

/** A line that is an instruction, or a comment that holds a command. */
const isSaying = (line: string) => !/^\s*(#(?! {3}).*)?$/.test(line)

/** The texts in which one place of a line has another form. */
const places = (lines: readonly string[], i: number, place: RegExp, other: (found: string) => string) =>
  [...lines[i]!.matchAll(place)].map(({ 0: found, index }) =>
    lines.with(i, lines[i]!.slice(0, index) + other(found) + lines[i]!.slice(index + found.length)).join('\n'),
  )

/** Ways to spoil a file at one line. */
const spoilt: Readonly<Record<string, (lines: readonly string[], i: number) => string[]>> = {
  'a line removed': (lines, i) => [lines.toSpliced(i, 1).join('\n')],
  'a line twice': (lines, i) => [lines.toSpliced(i, 0, lines[i]!).join('\n')],
  'two lines swapped': (lines, i) => {
    const next = lines.findIndex((line, at) => at > i && isSaying(line))
    return next === -1 ? [] : [lines.with(i, lines[next]!).with(next, lines[i]!).join('\n')]
  },
  'a line in from the margin': (lines, i) => [lines.with(i, `  ${lines[i]}`).join('\n')],
  'a line out to the margin': (lines, i) => [lines.with(i, lines[i]!.replace(/^ {2}/, '')).join('\n')],
  'another number': (lines, i) => places(lines, i, /\d+/g, (found) => String(Number(found) + 1)),
  'another word': (lines, i) => places(lines, i, /[A-Za-z_-]+/g, () => 'wrong'),
  'a word removed': (lines, i) => places(lines, i, /[\w.:/@^*-]+/g, () => ''),
  'a quote removed': (lines, i) => places(lines, i, /'[^']*'|"[^"]*"/g, (found) => found.slice(1, -1)),
  'a sign removed': (lines, i) => places(lines, i, /[^\w\s]/g, () => ''),
}

/** What the readers of YAML make of a file: kubectl reads version 1.1, where `yes` is no text. */
const readings = (text: string) =>
  (['1.1', '1.2'] as const).map((version) =>
    parseAllDocuments(text, { version, merge: true, logLevel: 'error' }).map((document) => {
      if (document.errors.length > 0) return document.errors.map(({ message }) => message)
      try {
        return document.toJS() as unknown
      } catch (error) {
        return String(error)
      }
    }),
  )

/** Keys have no order, and some quotes no use. In a Dockerfile every change of a line counts but for blanks before it. */
function saysTheSame(name: keyof ContainerFiles, text: string): boolean {
  const said = (each: string) => [
    commandsOf(each),
    name === 'Dockerfile' ? each.replaceAll(/^ +|^(#.*)?\n/gm, '') : readings(each),
  ]
  return isDeepStrictEqual(said(text), said(files[name]))
}

/** The first line in which a text is another one. */
function lineOfDifference(text: string, other: string): string {
  const [lines, others] = [text.split('\n'), other.split('\n')]
  const at = lines.findIndex((line, i) => line !== others[i])
  return `${at + 1}: ${others[at]} -> ${lines[at]}`
}

describe('what the files say', () => {
  test('agrees with the code', () => {
    for (const name of names) expect([name, isWrong(name, files[name])]).toEqual([name, false])
  })

  test.each(names.flatMap((name) => Object.keys(spoilt).map((what) => [name, what] as const)))(
    '%s with %s is wrong',
    (name, what) => {
      const lines = files[name].split('\n')
      const wrong = lines.flatMap((line, i) => (isSaying(line) ? spoilt[what]!(lines, i) : []))
      expect(wrong.length).toBeGreaterThan(1)
      const unnoticed = wrong.filter((text) => !isWrong(name, text) && !saysTheSame(name, text))
      expect(unnoticed.map((text) => lineOfDifference(text, files[name]))).toEqual([])
    },
  )
})

/** Whether processes can be given a root file system of their own that takes no writes, and another user. */
const canBeApart = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0

describe.skipIf(inject('postgresUrl') === null)('the image, without a container engine', () => {
  if (inject('postgresUrl') === null) return
  const { url } = suiteDatabase()
  let app: string

  const lines = instructionsOf(files.Dockerfile)

  /** The first stage: its RUN beside the packed package, and of that the second stage takes `node_modules` alone. */
  beforeAll(() => {
    app = mkdtempSync(join(tmpdir(), 'posthorn-image-'))
    chmodSync(app, 0o755)
    const stage = join(app, 'install')
    mkdirSync(stage)
    const npm = execFileSync('npm', ['pack', '--json', '--pack-destination', stage], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    const [{ filename }] = JSON.parse(npm) as [{ filename: string }]
    renameSync(join(stage, filename), join(stage, 'posthorn.tgz'))
    const { value } = lines.find(({ name }) => name === 'RUN')!
    const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_umask: '0022' }
    execFileSync('sh', ['-ec', value], { cwd: stage, env, stdio: 'pipe' })
    renameSync(join(stage, 'node_modules'), join(app, 'node_modules'))
    rmSync(stage, { recursive: true })
  }, 180_000)
  afterAll(() => rmSync(app, { recursive: true, force: true }))

  const last = (name: string) => lines.findLast((line) => line.name === name)!.value
  const words = (text: string) => JSON.parse(text.slice(text.indexOf('['))) as string[]
  const own = lines.filter(({ name }) => name === 'ENV').map(({ value }) => value)

  /** Runs the entry as the image would: its user, its variables and no others, nothing to write to. */
  function container(command: readonly string[], env: Readonly<Record<string, string>>) {
    const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const clean = ['-i', `PATH=${process.env['PATH']}`, ...own, ...given]
    if (!canBeApart) return program('env', [...clean, ...command], { cwd: app })
    const sealed = `mount -o remount,bind,ro / && mount --bind ${tmpdir()} ${tmpdir()} &&
      mount -o remount,bind,ro ${tmpdir()} && cd ${app} && exec "$@"`
    const as = [
      'setpriv',
      `--reuid=${user}`,
      `--regid=${user}`,
      '--clear-groups',
      '--no-new-privs',
      '--bounding-set=-all',
    ]
    return program('unshare', ['-m', 'sh', '-c', sealed, 'sh', ...as, 'env', ...clean, ...command])
  }

  test(
    `migrates and serves ${canBeApart ? 'as its user on a read-only file system' : 'with its variables'}, and is healthy`,
    slow,
    async () => {
      const entry = words(last('ENTRYPOINT'))
      const health = words(last('HEALTHCHECK'))
      const [admin, gateway, status] = [await freePort(), await freePort(), await freePort()]
      const env = {
        DATABASE_URL: url,
        ADMIN_TOKEN: 'correct-horse',
        POSTHORN_MIGRATE: 'false',
        PORT_ADMIN: String(admin),
        PORT_GATEWAY: String(gateway),
        PORT_STATUS: String(status),
      }
      expect(await container([...entry, 'migrate'], env).ended()).toMatch(/The schema posthorn has version \d+\.$/)
      const before = readdirSync(app)
      const server = container([...entry, ...words(last('CMD'))], env)
      onTestFinished(() => server.kill())
      const said = JSON.parse(await server.says(/listening/)) as { admin: string; engine: string }
      expect(said).toMatchObject({ engine: 'postgres', admin: `http://0.0.0.0:${admin}` })
      expect(await container(health, env).ended()).toBe('UP')
      expect((await fetch(`http://127.0.0.1:${status}/ready`)).status).toBe(200)
      expect((await fetch(`http://127.0.0.1:${admin}/endpoints`)).status).toBe(401)
      expect(await server.stop()).toBe(0)
      expect(readdirSync(app)).toEqual(before)
      await expect(container(health, env).ended()).rejects.toThrow('does not answer')
    },
  )

  test('has every command for npx, and commands that work with its engine', slow, async () => {
    const npx = (...args: string[]) =>
      program('npx', ['--offline', 'posthorn', ...args], {
        cwd: app,
        env: { DATABASE_URL: url, REDIS_URL: '' },
      }).ended()
    for (const each of commands) expect(await npx(...each.split(' '), '--help')).toContain(`posthorn ${each}`)
    expect(await npx('migrate', '--json')).toContain('"pending":false')
    expect(await npx('secrets', 'status', '--json')).toContain('"keys":[]')
  })

  test('does not listen without a token', slow, async () => {
    const serving = container([...words(last('ENTRYPOINT')), 'serve'], { DATABASE_URL: url })
    await expect(serving.ended()).rejects.toThrow('set ADMIN_TOKEN')
  })
})
