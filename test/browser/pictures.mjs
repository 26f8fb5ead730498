// Pictures of every view and state, to be looked at: `node pictures.mjs FOLDER [parts of names]`. Those of the docs are made by
// `node pictures.mjs docs`.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { launch } from './browser.mjs'
import { fillMonth, startInstance, workspace } from './instance.mjs'

const [folder = 'pictures', ...parts] = process.argv.slice(2)
const isDocs = folder === 'docs'
const isAsked = (name) => parts.length === 0 || parts.some((part) => name.includes(part))
const target = isDocs ? fileURLToPath(new URL('../../docs/pictures', import.meta.url)) : folder
mkdirSync(target, { recursive: true })

const instance = await startInstance()
await fillMonth(instance)
const { posthorn, customers, base } = instance
const browser = await launch()
const own = `/ops/w/${workspace}`
const first = async (filter) => (await posthorn.deliveries.list(workspace, { limit: 1, ...filter })).data[0]
const failed = await first({ status: 'FAILED' })
const waiting = (await first({ status: 'PENDING' })) ?? failed
const [plugin] = (await posthorn.plugins.list(workspace, { limit: 1 })).data
const deliveryOf = ({ event_id, endpoint_id }) => `/deliveries/${event_id}/${endpoint_id}`
const press = (name) => (page) => page.getByRole('button', { name }).first().click()

const dashboards = [
  ['overview', own],
  ['overview-30d', `${own}?period=30d`],
  ['overview-all', '/ops'],
  ['workspaces', '/ops/workspaces'],
  ['workspace-edit', '/ops/workspaces', press('Edit')],
  ['workspace-delete', '/ops/workspaces', press('Delete')],
  ['endpoints', `${own}/endpoints`],
  ['endpoint', `${own}/endpoints/warehouse`],
  ['endpoint-off', `${own}/endpoints/gone`],
  ['endpoint-long', `${own}/endpoints/long`],
  ['endpoint-paused', `${own}/endpoints/paused`],
  ['endpoint-recover', `${own}/endpoints/legacy`, press('Recover')],
  ['endpoint-test', `${own}/endpoints/billing`, press('Send test event')],
  ['endpoint-rotate', `${own}/endpoints/billing`, press('Rotate')],
  ['endpoint-new', `${own}/endpoints/new`],
  ['endpoint-edit', `${own}/endpoints/long/edit`],
  ['deliveries', `${own}/deliveries`],
  ['deliveries-failed', `${own}/deliveries?status=FAILED`],
  ['deliveries-none', `${own}/deliveries?event_type=no.such`],
  ['delivery', own + deliveryOf(failed)],
  ['delivery-waiting', own + deliveryOf(waiting)],
  ['deliveries-resend', `${own}/deliveries`, press('Resend all failed')],
  ['events', `${own}/events`],
  ['event', `${own}/events/${failed.event_id}`],
  ['event-send', `${own}/events`, press('Send an event')],
  ['sources', `${own}/sources`],
  ['source', `${own}/sources/shop`],
  ['source-new', `${own}/sources/new`],
  ['plugins', `${own}/plugins`],
  ['plugin', `${own}/plugins/${plugin.id}`],
  ['plugin-new', `${own}/plugins/new`],
  ['catalogue', `${own}/catalogue`],
  ['configuration', `${own}/configuration`],
  ['configuration-open', `${own}/configuration`, press('Show')],
  ['system', '/ops/system'],
  ['unknown', '/ops/unknown'],
  ['empty-overview', '/ops/w/empty'],
  ['empty-endpoints', '/ops/w/empty/endpoints'],
  ['empty-deliveries', '/ops/w/empty/deliveries'],
  ['error-workspace', '/ops/w/nobody/endpoints'],
  ['error-endpoint', `${own}/endpoints/nobody`],
]
const portals = [
  ['portal-endpoints', ''],
  ['portal-endpoint', '/endpoints/warehouse'],
  ['portal-endpoint-off', '/endpoints/gone'],
  ['portal-endpoint-new', '/endpoints/new'],
  ['portal-endpoint-edit', '/endpoints/long/edit'],
  ['portal-deliveries', '/deliveries'],
  ['portal-delivery', deliveryOf(failed)],
  ['portal-catalogue', '/catalogue'],
  ['portal-verify', '/verify'],
]
const looks = {
  wide: { viewport: { width: 1280, height: 800 } },
  narrow: { viewport: { width: 390, height: 844 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
}
/** Pictures of the docs, and the look of each. */
const docs = {
  overview: 'wide',
  endpoint: 'wide',
  delivery: 'wide',
  'endpoint-off': 'dark',
  'portal-endpoint': 'wide',
  'portal-deliveries': 'narrow',
}

async function shoot(name, url, look, act, { hang = false } = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...looks[look] })
  const page = await context.newPage()
  if (hang) await page.route(/\/api(\/|$)|\/status|\/health/, () => {})
  await page.goto(`${base}${url}`)
  await page.waitForSelector('main h1, main .empty, main .loading')
  await page.waitForTimeout(700)
  await act?.(page)
  if (act) await page.waitForTimeout(400)
  const path = `${target}/${isDocs ? name : `${name}.${look}`}.png`
  await page.screenshot({ path, fullPage: !isDocs && !act })
  await context.close()
}

const { url, token } = await customers.session(workspace)
const path = url.slice(0, -token.length - 1).replace(/\/$/, '')
const all = [...dashboards, ...portals.map(([name, to]) => [name, `${path}${to === '' ? '/' : to}#${token}`])]
const states = [
  ['loading-overview', own],
  ['loading-deliveries', `${own}/deliveries`],
]
for (const [name, to, act] of all) {
  if (isDocs && docs[name]) await shoot(name, to, docs[name], act)
  if (isDocs || !isAsked(name)) continue
  for (const look of Object.keys(looks)) await shoot(name, to, look, act)
}
for (const [name, to] of states) {
  if (!isDocs && isAsked(name)) await shoot(name, to, 'wide', undefined, { hang: true })
}
await browser.close()
await instance.stop()
