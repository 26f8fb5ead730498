import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { folder, onEveryServer, posthorn, server } from '../support/cli.ts'

const slow = { timeout: 60_000 }
const keyOf = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
const [old, next] = [keyOf('2026-11', 1), keyOf('2026-12', 2)]

onEveryServer((engine) => {
  test('secrets of a server are counted, sealed with another key, and open', slow, async () => {
    const at = await server({ ...engine(), POSTHORN_SECRETS_KEYS: `${old},${next}` })
    const make = { request: { url: 'http://127.0.0.1:9/', headers: { authorization: 'Bearer of the shop' } } }
    const made = await fetch(`${at.admin}/endpoints`, { method: 'POST', body: JSON.stringify(make) })
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    const secrets = async (verb: string, keys: string, ...options: string[]) => {
      const env = { ...engine(), POSTHORN_SECRETS_KEYS: keys }
      const ended = await posthorn(['secrets', verb, ...options], { env })
      expect(`${ended.out}${ended.err}`).not.toContain(keys.split(':')[1])
      return ended
    }
    if (Object.keys(engine()).length === 0) {
      const { code, err } = await secrets('status', old)
      return expect([code, err]).toEqual([2, expect.stringContaining('set DATABASE_URL or REDIS_URL')])
    }
    const counted = await secrets('status', old, '--json')
    const keys = [{ id: '2026-11', values: 1, known: true }]
    expect([counted.code, JSON.parse(counted.out)]).toEqual([0, { seals_with: '2026-11', keys, clear: 0 }])
    expect(await secrets('reseal', '')).toMatchObject({
      code: 2,
      err: 'posthorn: set POSTHORN_SECRETS_KEYS: with which key shall secrets be sealed?\n',
    })

    const lacking = await secrets('reseal', next)
    expect([lacking.code, lacking.out]).toEqual([1, expect.stringContaining('Not opened: 1 values.')])
    expect(lacking.out).toContain("key '2026-11'")
    const missing = await secrets('status', next)
    expect([missing.code, missing.out]).toEqual([1, expect.stringMatching(/^2026-11 +1 +the key is missing here$/m)])

    const done = await secrets('reseal', `${next},${old}`)
    expect([done.code, done.out]).toEqual([0, 'Sealed anew: 1 values. Workspaces: 1.\n'])
    const again = await secrets('reseal', `${next},${old}`, '--json')
    expect(JSON.parse(again.out)).toEqual({ workspaces: 1, resealed: 0, left: 0, problems: [], stopped: false })
    expect((await secrets('status', next)).out).toMatch(/^Seals with the key 2026-12\.\n.*\n2026-12 +1\nin clear +0\n$/)
    const dump = await fetch(`${at.admin}/config/dump?secrets=clear&format=json`, { method: 'POST' })
    expect(await dump.text()).toContain('Bearer of the shop')
    expect((await fetch(`${at.admin}/endpoints/${id}`)).status).toBe(200)
  })
})

test('a key that is wrong is told without the key, and a provider comes from a file', slow, async () => {
  const env = { REDIS_URL: 'redis://127.0.0.1:1', POSTHORN_SECRETS_KEYS: '2026-11:hunter2' }
  expect(await posthorn(['secrets', 'status'], { env })).toEqual({
    code: 2,
    out: '',
    err: 'posthorn: POSTHORN_SECRETS_KEYS must be id:key, where the key is 32 bytes in base64, separated by commas\n',
  })
  const cwd = folder()
  writeFileSync(join(cwd, 'posthorn.config.mjs'), `export default { secrets: { keys: [] } }`)
  const both = await posthorn(['secrets', 'status'], { cwd, env: { ...env, POSTHORN_SECRETS_KEYS: old } })
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('set one of both')])
  const neither = await posthorn(['secrets', 'status'], { cwd, env: { ...env, POSTHORN_SECRETS_KEYS: '' } })
  expect([neither.code, neither.err]).toEqual([2, expect.stringContaining('keys or provider is required')])
})
