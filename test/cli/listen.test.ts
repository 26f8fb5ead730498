import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { describe, expect, inject, onTestFinished, test } from 'vitest'

import { verifyWebhook } from '../../src/verify.ts'
import { onEveryServer, posthorn, running, server, suiteDatabase } from '../support/cli.ts'
import { hooks } from '../support/hooks.ts'

const slow = { timeout: 60_000 }

onEveryServer((engine) => {
  test(
    'listen forwards new events that are wanted, signed, with their bytes, and leaves nothing behind',
    slow,
    async () => {
      const receiver = await hooks()
      const { admin, gateway } = await server(engine())
      const body = JSON.stringify({ config: { http: { path: '/listen' } } })
      await fetch(`${admin}/sources`, { method: 'POST', body })
      const env = { POSTHORN_URL: admin }
      /** All that the server shows of itself, but for the events. */
      const shown = async () => {
        const ask = async (path: string) => await (await fetch(`${admin}${path}`)).json()
        const processes = (await ask('/instance/processes')) as readonly { readonly id: string }[]
        return {
          dump: (await posthorn(['dump'], { env })).out,
          workspaces: await ask('/workspaces'),
          attempts: await ask('/attempts'),
          processes: processes.map(({ id }) => id),
        }
      }
      const before = await shown()
      await posthorn(['events', 'send', 'order.old'], { env })

      const listening = running(['listen', '--forward-to', receiver.url, '--events', 'order.*'], { env })
      const secret = /whsec_\S+/.exec(await listening.says(/^Signed with/))![0]
      await posthorn(['events', 'send', 'parcel.sent'], { env })
      // Data that is no object, as only the gateway takes it.
      await fetch(`${gateway}/listen`, {
        method: 'POST',
        body: '{"event_type":"order.list","data":[12345678901234567890, 1]}',
      })
      await posthorn(['events', 'send', 'order.paid', '{"b":1.50,"a":"Genève"}'], { env })
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2)
      expect(receiver.received.map(({ headers, body }) => [headers['webhook-event-type'], body])).toEqual([
        ['order.list', '[12345678901234567890, 1]'],
        ['order.paid', '{"b":1.50,"a":"Genève"}'],
      ])
      for (const received of receiver.received) await verifyWebhook(received, secret)
      const { id } = JSON.parse((await posthorn(['events', 'send', 'order.last', '--json'], { env })).out) as {
        id: string
      }
      await expect.poll(() => receiver.received.at(-1)?.headers['webhook-id'], { timeout: 20_000 }).toBe(id)

      await listening.kill()
      expect(await shown()).toEqual(before)
    },
  )
})

test('listen outlives a restart of the local server, and one of the server', slow, async () => {
  const first = await hooks()
  const local = Number(new URL(first.url).port)
  const old = await server()
  const env = { POSTHORN_URL: old.admin }
  const listening = running(['listen', '--forward-to', first.url], { env })
  await listening.says(/^Signed with/)

  first.close()
  await posthorn(['events', 'send', 'order.one'], { env })
  await listening.says(/try 1 .*ECONNREFUSED/)
  const second = await hooks(local)
  await expect.poll(() => second.received.length, { timeout: 30_000 }).toBe(1)

  await old.kill()
  await listening.says(/does not answer/)
  await server({ PORT_ADMIN: new URL(old.admin).port })
  await listening.says(/answers again/)
  await posthorn(['events', 'send', 'order.two'], { env })
  await expect.poll(() => second.received.at(-1)?.headers['webhook-event-type'], { timeout: 20_000 }).toBe('order.two')
  expect(await listening.stop()).toBe(0)
})

describe.skipIf(inject('postgresUrl') === null)('on PostgreSQL, with two servers', () => {
  if (inject('postgresUrl') === null) return
  const { url } = suiteDatabase()
  const env = { DATABASE_URL: url }

  test('what was published while its server was away comes once, and no event comes twice', slow, async () => {
    const receiver = await hooks()
    const types = () => receiver.received.map(({ headers }) => headers['webhook-event-type'])
    const other = await server({ ...env, POSTHORN_ROLE: 'api' })
    const send = (type: string) => posthorn(['events', 'send', type], { env: { POSTHORN_URL: other.admin } })
    const killed = await server(env)
    const listening = running(['listen', '--forward-to', receiver.url], { env: { POSTHORN_URL: killed.admin } })
    await listening.says(/^Signed with/)
    await send('order.one')
    await expect.poll(types, { timeout: 20_000 }).toEqual(['order.one'])

    await killed.kill()
    await listening.says(/does not answer/)
    await send('order.two')
    await server({ ...env, PORT_ADMIN: new URL(killed.admin).port })
    await send('order.three')
    await expect.poll(types, { timeout: 20_000 }).toEqual(['order.one', 'order.two', 'order.three'])
    await send('order.four')
    await expect.poll(types, { timeout: 20_000 }).toEqual(['order.one', 'order.two', 'order.three', 'order.four'])
    expect(await listening.stop()).toBe(0)
  })
})

test('it can be ended while its server is away, also between an event and its data', slow, async () => {
  const old = await server()
  const front = await holding(old.admin)
  const listening = running(['listen', '--forward-to', 'http://127.0.0.1:1/'], { env: { POSTHORN_URL: front.url } })
  await listening.says(/^Signed with/)
  await posthorn(['events', 'send', 'order.one'], { env: { POSTHORN_URL: old.admin } })
  await front.refused
  expect(await listening.stop()).toBe(0)
})

/** A server in front of another, which breaks the connection of each request for the data of an event. */
async function holding(behind: string) {
  let refuse = (): void => {}
  const refused = new Promise<void>((resolve) => (refuse = resolve))
  const front = createServer((request, response) => {
    if (/\/events\/\w+$/.test(request.url!)) {
      request.socket.destroy()
      return refuse()
    }
    void fetch(`${behind}${request.url}`).then(async (answer) => {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
  })
  await once(front.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    front.close()
    front.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`, refused }
}

test('what cannot be meant is told before anything starts', slow, async () => {
  const run = (...args: string[]) => posthorn(['listen', ...args])
  expect(await run('--forward-to', 'localhost:3000')).toMatchObject({
    code: 2,
    err: 'posthorn: --forward-to must be an http or https url\n',
  })
  expect(await run('--forward-to', 'http://localhost:3000', '--secret', 'abc')).toMatchObject({
    code: 2,
    err: 'posthorn: --secret must be whsec_ followed by base64 of 24 to 64 bytes\n',
  })
})
