import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'

import { commands, suiteDatabase } from '../support/cli.ts'
import { type ContainerFiles, instructionsOf, user, wrongFiles } from '../support/container.ts'
import { freePort } from '../support/postgres.ts'
import { program } from '../support/program.ts'

const slow = { timeout: 120_000 }
const read = (name: string) => readFileSync(join('examples/container', name), 'utf8')
const files: ContainerFiles = {
  Dockerfile: read('Dockerfile'),
  'compose.yaml': read('compose.yaml'),
  'kubernetes.yaml': read('kubernetes.yaml'),
}

describe('what the files say', () => {
  test('agrees with the code', () => {
    expect(wrongFiles(files)).toEqual([])
  })

  /** The line without its first word, with a wrong first word, with a wrong last word. */
  const spoilt = [
    (_line: string) => '',
    (line: string) => line.replace(/[A-Za-z_-]+/, 'wrong'),
    (line: string) => line.replace(/[\w.]+(?=\W*$)/, 'wrong'),
  ]

  test.each(Object.keys(files) as (keyof ContainerFiles)[])('a wrong line of %s fails', (name) => {
    const lines = files[name].split('\n')
    const unnoticed = lines.flatMap((line, i) => {
      if (/^\s*(#.*)?$/.test(line)) return []
      return spoilt
        .map((spoil) => spoil(line))
        .filter(
          (wrong) => wrong !== line && wrongFiles({ ...files, [name]: lines.with(i, wrong).join('\n') }).length === 0,
        )
        .map((wrong) => `${i + 1}: ${line} -> ${wrong}`)
    })
    expect(unnoticed).toEqual([])
  })
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
