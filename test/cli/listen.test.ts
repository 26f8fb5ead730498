import { expect, test } from 'vitest'

import { verifyWebhook } from '../../src/verify.ts'
import { onEveryServer, posthorn, running, server } from '../support/cli.ts'
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
      const before = (await posthorn(['dump'], { env })).out
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
      expect((await posthorn(['dump'], { env })).out).toBe(before)
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
