// From nothing to webhooks that arrive: `npm run demo`. Everything is in memory and on loopback.
// `npm run demo -- --open` goes on, and serves a dashboard over what happened.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { serve } from '@hono/node-server'
import { createPosthorn } from 'posthorn'
import { dashboard } from 'posthorn/dashboard'

// A receiver that fails once, as receivers do.
const received: { event: string; try: string; body: string; answered: number }[] = []
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const event = String(request.headers['webhook-event-type'])
    const attempt = String(request.headers['webhook-attempt'])
    const answered = event === 'order.paid' && attempt === '1' ? 500 : 200
    received.push({ event, try: attempt, body: Buffer.concat(chunks).toString(), answered })
    response.writeHead(answered).end()
  })
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`

// The service. Loopback may not be sent to by default, so the demo allows it.
const posthorn = createPosthorn({ deliver: { allow: ['@loopback'] }, admin: { allowedHosts: ['127.0.0.1'] } })
await posthorn.config.sync('default', {
  endpoints: [
    { name: 'shop', request: { url: receiverUrl }, events: ['order.*'], retry: { config: { attempts: [0, 1] } } },
  ],
  sources: [{ name: 'orders', config: { http: { path: '/orders' } } }],
})
const delivered = new Promise<void>((resolve) => {
  let count = 0
  posthorn.on('attempt', ({ attempt }) => {
    if (attempt.status === 'SUCCESSFUL' && ++count === 3) resolve()
  })
})
await posthorn.start()

// Requests become events.
const gateway = serve({ fetch: posthorn.gateway.fetch, hostname: '127.0.0.1', port: 0 })
if (!gateway.listening) await once(gateway, 'listening')
const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/orders`
for (const [event_type, data] of Object.entries({
  'order.created': '{"order":1,"total":12345678901234567890}',
  'order.paid': '{"order":1}',
  'order.shipped': '{"order":1,"to":"Genève"}',
})) {
  const answer = await fetch(gatewayUrl, { method: 'POST', body: `{"event_type":"${event_type}","data":${data}}` })
  console.log(`posted ${event_type}: ${answer.status}, event ${answer.headers.get('webhook-event-id')}`)
}

// Events become deliveries; the failed one is tried again after a second.
await delivered

const { data: events } = await posthorn.events.list('default', { sort: 'id.asc' })
const { data: attempts } = await posthorn.attempts.list('default', { sort: 'id.asc' })
console.log('\nevents')
const texts = await Promise.all(events.map(({ id }) => posthorn.events.raw('default', id)))
console.table(events.map(({ id, event_type }, i) => ({ id, event_type, data: texts[i] })))
console.log('attempts')
console.table(
  attempts.map(({ event_id, attempt_number, status, trigger_mode, response }) => ({
    event: events.find(({ id }) => id === event_id)?.event_type,
    try: attempt_number,
    status,
    trigger: trigger_mode,
    answer: response?.status,
  })),
)
console.log('requests the receiver saw')
console.table(received)

if (process.argv.includes('--open')) {
  // Whoever reaches this port is let in: it is on loopback, and ends with the demo.
  const page = dashboard(posthorn, { basePath: '/dashboard', authorize: () => true })
  const server = serve({ fetch: page.fetch, hostname: '127.0.0.1', port: 0 })
  if (!server.listening) await once(server, 'listening')
  console.log(`dashboard: http://127.0.0.1:${(server.address() as AddressInfo).port}/dashboard (Ctrl-C ends it)`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  server.close()
}
await posthorn.stop()
gateway.close()
receiver.close()
