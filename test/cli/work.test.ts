import { describe, expect, test } from 'vitest'

import { onEveryServer, posthorn, running, type RunningServer, server } from '../support/cli.ts'
import { hooks } from '../support/hooks.ts'

// The daily work with a server: publish, watch, try once more.

const slow = { timeout: 60_000 }

async function endpoint({ admin }: RunningServer, url: string, tries: readonly number[] = [0]): Promise<string> {
  const body = JSON.stringify({ request: { url }, events: ['order.*'], retry: { config: { attempts: tries } } })
  const answer = await fetch(`${admin}/endpoints`, { method: 'POST', body })
  return ((await answer.json()) as { id: string }).id
}

onEveryServer((engine) => {
  test('an event is sent, watched, fails, and is delivered by hand and by a replay', slow, async () => {
    const receiver = await hooks()
    receiver.status = 500
    const at = await server(engine())
    const env = { POSTHORN_URL: at.admin }
    const endpointId = await endpoint(at, receiver.url)

    const events = running(['events', 'tail', '--events', 'order.*', '--json'], { env })
    const deliveries = running(['deliveries', 'tail', '--json'], { env })
    await Promise.all([events.says(/^Waiting/), deliveries.says(/^Waiting/)])

    const data = '{"n":12345678901234567890,"to":"Genève"}'
    const sent = await posthorn(['events', 'send', 'order.paid', data, '--unique-id', 'o1'], { env })
    expect([sent.code, sent.out]).toEqual([0, expect.stringMatching(/order\.paid\nwanted by 1 of 1 endpoints\n$/)])
    await posthorn(['events', 'send', 'parcel.sent'], { env })
    expect(JSON.parse(await events.says(/^\{/))).toMatchObject({ event_type: 'order.paid', unique_id: 'o1' })
    const failed = JSON.parse(await deliveries.says(/^\{/)) as { id: string }
    expect(failed).toMatchObject({ status: 'FAILED', endpoint_id: endpointId, response: { status: 500 } })
    expect(receiver.received[0]!.body).toBe(data)

    receiver.status = 200
    const counted = await posthorn(['replay', '--since', '1h', '--types', 'order.paid', '--dry-run', '--json'], { env })
    expect(JSON.parse(counted.out)).toEqual({ dry_run: true, matched: 1, created: 0 })
    expect(receiver.received).toHaveLength(1)
    const replayed = await posthorn(['replay', '--endpoint', endpointId], { env })
    expect(replayed.out).toBe('Deliveries made once more: 1.\n')
    await deliveries.says(/"SUCCESSFUL"/)

    const retried = await posthorn(['deliveries', 'retry', failed.id, '--json'], { env })
    expect(JSON.parse(retried.out)).toMatchObject({ trigger_mode: 'MANUAL', endpoint_id: endpointId })
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(3)
    expect(await posthorn(['deliveries', 'retry', 'nobody'], { env })).toMatchObject({
      code: 1,
      err: 'posthorn: attempt "nobody" not found in workspace "default"\n',
    })

    const status = await posthorn(['status', '--url', at.status, '--json'])
    expect([status.code, JSON.parse(status.out)]).toEqual([
      0,
      expect.objectContaining({ health: expect.objectContaining({ status: 'UP' }) }),
    ])
    expect(await events.stop()).toBe(0)
    expect(await deliveries.stop()).toBe(0)
  })
})

describe('a token', () => {
  test(
    'is asked for by the administrative API, and given by --token, POSTHORN_TOKEN and ADMIN_TOKEN',
    slow,
    async () => {
      const at = await server({ ADMIN_TOKEN: 'correct-horse' })
      const env = { POSTHORN_URL: at.admin }
      const refused = 'posthorn: the token of the administrative API is missing or wrong\n'
      expect(await posthorn(['dump'], { env })).toMatchObject({ code: 1, err: refused })
      expect(await posthorn(['dump', '--token', 'wrong'], { env })).toMatchObject({ code: 1, err: refused })
      for (const name of ['POSTHORN_TOKEN', 'ADMIN_TOKEN']) {
        expect(await posthorn(['dump'], { env: { ...env, [name]: 'correct-horse' } })).toMatchObject({ code: 0 })
      }
      expect(await posthorn(['dump', '--token', 'correct-horse'], { env })).toMatchObject({ code: 0 })
    },
  )
})

test('a tail goes on when its server is restarted', slow, async () => {
  const first = await server()
  const port = new URL(first.admin).port
  const env = { POSTHORN_URL: first.admin }
  const tail = running(['events', 'tail'], { env })
  await tail.says(/^Waiting/)
  await first.kill()
  await tail.says(/does not answer/)
  await server({ PORT_ADMIN: port })
  await tail.says(/answers again/)
  await posthorn(['events', 'send', 'order.paid', '{"order":7}'], { env })
  expect(await tail.says(/order\.paid/)).toMatch(/^\d\d:\d\d:\d\d {2}order\.paid {2}\w+ {2}\{"order":7\}$/)
})
