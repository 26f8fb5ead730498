import { describe, expect, inject, test } from 'vitest'

import { posthorn, running, suiteDatabase } from '../support/cli.ts'

const slow = { timeout: 60_000 }

test('dev shows a first delivery by itself, and those of events that are sent to it', slow, async () => {
  const dev = running(['dev', '--port', '0'])
  const admin = (await dev.says(/^admin /)).split(/ +/)[1]!
  const gateway = (await dev.says(/^gateway /)).split(/ +/)[1]!
  expect(await dev.says(/posthorn\.hello/)).toMatch(/^\d\d:\d\d:\d\d {2}posthorn\.hello {2}signature holds$/)
  expect(await dev.says(/curl/)).toBe(`  curl ${gateway} \\`)
  const body = /-d '(.*)'$/.exec(await dev.says(/^ +-d /))![1]!
  expect((await fetch(gateway, { method: 'POST', body })).status).toBe(200)
  await dev.says(/order\.paid {2}signature holds/)
  expect((await posthorn(['events', 'send', 'parcel.sent', '--url', admin])).code).toBe(0)
  await dev.says(/parcel\.sent/)
  expect(await dev.stop()).toBe(0)
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL', () => {
  if (inject('postgresUrl') === null) return
  const { url } = suiteDatabase()

  test('a run replaces what one that was killed left behind, and leaves nothing itself', slow, async () => {
    const killed = running(['dev', '--port', '0', '--database', url, '--json'])
    await killed.says(/posthorn\.hello/)
    await killed.kill()
    const dev = running(['dev', '--port', '0', '--database', url, '--json'])
    const { admin } = JSON.parse(await dev.says(/"admin"/)) as { admin: string }
    expect(JSON.parse(await dev.says(/posthorn\.hello/))).toMatchObject({ signed: true })
    const dumped = JSON.parse((await posthorn(['dump', '--json', '--url', admin])).out) as { endpoints: unknown[] }
    expect(dumped.endpoints).toHaveLength(1)
    expect(await dev.stop()).toBe(0)
  })
})
