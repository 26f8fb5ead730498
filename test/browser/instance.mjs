// An instance with both pages on a port of loopback, and the data that tests, pictures and measurements look at.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { getRequestListener } from '@hono/node-server'
import { createPosthorn } from '../../dist/node/index.js'
import { dashboard } from '../../dist/pages/dashboard.js'
import { portal } from '../../dist/pages/portal.js'

/** What a hostile receiver answers: nothing of it may run or load. */
export const hostile =
  '<script>window.hacked=1</script><img src="https://evil.example/x" onerror="window.hacked=1">{"__proto__":1}'

export const workspace = 'acme'

const hourMs = 3_600_000

/** Serves `handle` on a free port; `servers` closes it. */
export async function listen(handle, servers) {
  const server = createServer(handle)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `http://127.0.0.1:${server.address().port}`
}

/** A clock that lags behind by what is told, so that a history can be made by publishing. */
function laggingClock() {
  let behindMs = 0
  return {
    system: false,
    now: () => Date.now() - behindMs,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    lag: (ms) => (behindMs = ms),
  }
}

const schema = (value) => ({
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (data) => ({ value: data }),
    jsonSchema: { input: () => value, output: () => value },
  },
})
const object = (properties) => schema({ type: 'object', properties, required: Object.keys(properties) })
const text = { type: 'string' }
const number = { type: 'integer' }

export const catalogue = {
  'invoice.paid': {
    schema: object({ id: text, amount: number, currency: text }),
    description: 'An invoice was paid in full.',
    example: { id: 'in_1', amount: 4200, currency: 'EUR' },
  },
  'invoice.overdue': {
    schema: object({ id: text, days: number }),
    description: 'An invoice was not paid in time.',
    example: { id: 'in_2', days: 14 },
  },
  'order.placed': { schema: object({ id: text, items: number }), description: 'A customer placed an order.' },
  'order.shipped': {
    schema: object({ id: text }),
    description: 'An order left the warehouse.',
    example: { id: 'or_9', carrier: 'DHL', parcels: [{ weight: 1.2, code: '003404' }] },
  },
  'customer.address.changed': { schema: object({ id: text }), description: 'A customer moved.' },
}
const types = Object.keys(catalogue)

/** What receivers answer, by the first part of the path: those `mended` and `away` get healthy. */
export const receiver = { healthy: false, body: hostile }

function answer(request, response) {
  request.resume().on('end', () => {
    const kind = request.url.split('/')[1]
    const bad = kind === 'bad' || (kind === 'mended' && !receiver.healthy) || (kind === 'flaky' && Math.random() < 0.3)
    const isGone = kind === 'gone' || (kind === 'away' && !receiver.healthy)
    const status = isGone ? 410 : bad ? 500 : 200
    response.writeHead(status, { 'content-type': 'text/html', 'x-hostile': '<b>' }).end(receiver.body)
  })
}

/**
 * Starts an instance with both pages: the dashboard at `/ops`, the portal at `/webhooks`.
 * `storage`: memory where none is given. `options` are further ones of `createPosthorn`.
 */
export async function startInstance({ storage, options = {} } = {}) {
  const servers = []
  const hooks = await listen(answer, servers)
  const clock = laggingClock()
  const posthorn = createPosthorn({
    ...(storage && { storage }),
    clock,
    deliver: { allow: ['@loopback'], sign: 'standard-webhooks' },
    events: catalogue,
    operations: { workspace: 'operations' },
    ...options,
  })
  const ops = dashboard(posthorn, { basePath: '/ops', authorize: () => true })
  const customers = portal(posthorn, {
    basePath: '/webhooks',
    secret: 'a secret of 32 characters at the least',
    brand: { name: 'Example', accent: '#6b3fd4' },
  })
  const pages = (request) => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/ops')) return ops.fetch(request)
    return pathname.startsWith('/webhooks') ? customers.fetch(request) : posthorn.gateway.fetch(request)
  }
  const base = await listen(getRequestListener(pages, { overrideGlobalObjects: false }), servers)
  return {
    posthorn,
    customers,
    base,
    hooks,
    clock,
    async stop() {
      await posthorn.stop()
      await storage?.close()
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

/** The little that journeys need: a workspace with two endpoints, a source and sixty events. */
export async function fillLittle({ posthorn, hooks }) {
  await posthorn.workspaces.create({ id: workspace, name: 'Acme' })
  const endpoint = (body) => posthorn.endpoints.create(workspace, body)
  await endpoint({ id: 'billing', name: 'Billing', request: { url: `${hooks}/ok` }, events: ['invoice.*'] })
  const retry = { config: { attempts: [0, 3600] } }
  await endpoint({ id: 'stock', name: 'Warehouse', request: { url: `${hooks}/bad` }, events: ['*'], retry })
  await posthorn.sources.create(workspace, { id: 'shop', name: 'Shop', config: { http: { path: '/shop' } } })
  await posthorn.start()
  for (let i = 0; i < 60; i++) {
    const event_type = i % 3 === 0 ? 'order.shipped' : 'invoice.paid'
    await posthorn.events.create(workspace, { id: `event-${i}`, event_type, data: { id: i, note: hostile } })
  }
  await posthorn.drain({ maxMs: 5000 }).catch(() => {})
}

const long = 'A very long name of an endpoint that somebody pasted from a ticket, with everything they knew about it'

const endpointsOf = (hooks) => [
  { id: 'billing', name: 'Billing', request: { url: `${hooks}/ok/billing` }, events: ['invoice.*'] },
  { id: 'warehouse', name: 'Warehouse', request: { url: `${hooks}/flaky/warehouse` }, events: ['order.*'] },
  { id: 'crm', name: 'CRM', request: { url: `${hooks}/ok/crm` }, events: ['customer.**', 'order.placed'] },
  { id: 'ledger', name: 'Ledger', request: { url: `${hooks}/ok/ledger` }, events: ['*', 'customer.**'] },
  { id: 'legacy', name: 'Legacy importer', request: { url: `${hooks}/bad/legacy` }, events: ['invoice.overdue'] },
  {
    id: 'long',
    name: long,
    request: { url: `${hooks}/ok/${'a-long-path/'.repeat(12)}` },
    events: ['invoice.overdue'],
    metadata: { team: 'payments', runbook: `https://wiki.example/${'x'.repeat(120)}` },
    rate_limit: { quota: 100, period: 60 },
  },
  { id: 'paused', name: 'Data lake', request: { url: `${hooks}/ok/lake` }, events: ['order.placed'], paused: true },
  { id: 'manual', name: 'Old shop', request: { url: `${hooks}/ok/old` }, events: ['*'], enabled: false },
]

/** A month of three workspaces: endpoints that do well, fail, are off or paused. `perHour`: events of the busiest hour. */
export async function fillMonth(instance, { perHour = 60 } = {}) {
  const { posthorn, hooks, clock, base } = instance
  const monthMs = 30 * 24 * hourMs
  receiver.body = '{"error":"the stock of the warehouse is locked"}'
  clock.lag(monthMs + hourMs)
  await posthorn.workspaces.create({ id: workspace, name: 'Acme' })
  await posthorn.workspaces.create({ id: 'globex', name: 'Globex Corporation', limits: { max_endpoints: 20 } })
  await posthorn.workspaces.create({ id: 'empty', name: 'Nobody yet' })
  const retry = { config: { attempts: [0, 60, 600] } }
  for (const endpoint of endpointsOf(hooks)) await posthorn.endpoints.create(workspace, { retry, ...endpoint })
  await posthorn.endpoints.create('globex', { name: 'All', request: { url: `${hooks}/ok` }, events: ['**'] })
  await posthorn.sources.create(workspace, { id: 'shop', name: 'Shop', config: { http: { path: '/shop' } } })
  let n = 0
  const publish = async (to, count) => {
    const batch = Array.from({ length: count }, () => eventOf(n++))
    if (count > 0) await posthorn.events.createMany(to, batch)
  }
  // The last day hour by hour, the days before it six hours together.
  for (let ago = monthMs; ago > 0; ago -= ago > 25 * hourMs ? 6 * hourMs : hourMs / 2) {
    clock.lag(ago)
    if (Math.abs(ago - 3 * hourMs) < 1000) await turnOff(posthorn, hooks)
    const share = 0.35 + 0.65 * Math.sin((((Date.now() - ago) / hourMs) % 24) / 24 / 0.318) ** 2
    const amount = perHour * share * (ago > 25 * hourMs ? 4 : 0.5)
    await publish(workspace, Math.round(amount))
    await publish('globex', Math.round(amount * 0.4))
    await posthorn.drain({ maxMs: 20_000 }).catch(() => {})
  }
  clock.lag(0)
  await posthorn.start()
  for (let i = 0; i < 5; i++) await publish(workspace, 3)
  await receive(base)
  await posthorn.drain({ maxMs: 5000 }).catch(() => {})
}

function eventOf(n) {
  const event_type = types[(n * 7 + (n % 3)) % types.length]
  const data = { id: `${event_type.slice(0, 2)}_${n}`, amount: (n * 37) % 9000, currency: 'EUR', note: 'paid by card' }
  return { event_type, data, ...(n % 4 === 0 && { unique_id: `order-${n}` }) }
}

/** An endpoint whose receiver says that it is gone. */
async function turnOff(posthorn, hooks) {
  await posthorn.endpoints.create(workspace, {
    id: 'gone',
    name: 'Partner feed',
    request: { url: `${hooks}/gone` },
    events: ['order.shipped'],
  })
}

/** Requests to the source: most become events, some are refused. */
async function receive(base) {
  for (let i = 0; i < 12; i++) {
    const bad = i % 5 === 0
    const body = bad ? 'not json' : JSON.stringify({ event_type: 'order.placed', data: { id: i, items: 2 } })
    await fetch(`${base}/shop`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
}
