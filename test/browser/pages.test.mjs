// The pages in a real browser: `npm run build && npm ci --prefix test/browser && npm test --prefix test/browser`.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { getRequestListener } from '@hono/node-server'
import { chromium } from 'playwright-core'
import { createPosthorn } from '../../dist/node/index.js'
import { dashboard } from '../../dist/pages/dashboard.js'
import { portal } from '../../dist/pages/portal.js'

const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
mkdirSync(pictures, { recursive: true })
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

/** What a hostile receiver answers: nothing of it may run or load. */
const hostile =
  '<script>window.hacked=1</script><img src="https://evil.example/x" onerror="window.hacked=1">{"__proto__":1}'
const workspace = 'acme'
let healthy = false
const servers = []
let posthorn, customers, base, hooks, browser, seen

async function listen(handle) {
  const server = createServer(handle)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `http://127.0.0.1:${server.address().port}`
}

before(async () => {
  hooks = await listen((request, response) => {
    request.resume().on('end', () => {
      const bad = request.url.includes('bad') || (request.url.includes('mended') && !healthy)
      response.writeHead(bad ? 500 : 200, { 'content-type': 'text/html', 'x-hostile': '<b>' }).end(hostile)
    })
  })
  const schema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }
  posthorn = createPosthorn({
    deliver: { allow: ['@loopback'], sign: 'standard-webhooks' },
    events: {
      'invoice.paid': { schema, description: 'An invoice was paid in full.', example: { id: 'in_1', amount: 4200 } },
      'order.shipped': { schema, description: 'An order left the warehouse.', example: { id: 'or_9' } },
    },
  })
  await posthorn.workspaces.create({ id: workspace, name: 'Acme' })
  const retry = { config: { attempts: [0, 3600] } }
  await posthorn.endpoints.create(workspace, {
    id: 'billing',
    name: 'Billing',
    request: { url: `${hooks}/ok` },
    events: ['invoice.*'],
  })
  await posthorn.endpoints.create(workspace, {
    id: 'stock',
    name: 'Warehouse',
    request: { url: `${hooks}/bad` },
    events: ['*'],
    retry,
  })
  await posthorn.sources.create(workspace, { id: 'shop', name: 'Shop', config: { http: { path: '/shop' } } })
  await posthorn.start()
  for (let i = 0; i < 60; i++) {
    const event_type = i % 3 === 0 ? 'order.shipped' : 'invoice.paid'
    await posthorn.events.create(workspace, { id: `event-${i}`, event_type, data: { id: i, note: hostile } })
  }
  await posthorn.drain({ maxMs: 5000 }).catch(() => {})
  const ops = dashboard(posthorn, { basePath: '/ops', authorize: () => true })
  customers = portal(posthorn, {
    basePath: '/webhooks',
    secret: 'a secret of 32 characters at the least',
    brand: { name: 'Example', accent: '#6b3fd4' },
  })
  const answer = (request) =>
    new URL(request.url).pathname.startsWith('/ops') ? ops.fetch(request) : customers.fetch(request)
  base = await listen(getRequestListener(answer, { overrideGlobalObjects: false }))
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  browser = await chromium.launch({ executablePath, args: [...root, '--disable-dev-shm-usage'] })
})

after(async () => {
  await browser?.close()
  await posthorn?.stop()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

beforeEach(() => (seen = []))

/** A page that tells all that must not happen: errors, refused content, requests to others. */
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.on('console', (message) => {
    // An instance without deliveries answers 404 to them.
    const isUnserved = posthorn.deliveries === undefined && message.location().url.includes('/deliveries')
    if (['error', 'warning'].includes(message.type()) && !isUnserved) seen.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => seen.push(`error: ${error.message}`))
  page.on(
    'request',
    (request) =>
      !/^(data:|blob:)/.test(request.url()) &&
      !request.url().startsWith(base) &&
      seen.push(`request: ${request.url()}`),
  )
  await page.addInitScript(() =>
    // oxlint-disable-next-line no-console -- the console is what the test reads
    addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`)),
  )
  await page.goto(path.startsWith('http') ? path : `${base}${path}`)
  await page.waitForSelector('main h1, main .empty')
  return page
}

async function close(page) {
  assert.equal(await page.evaluate(() => window.hacked), undefined)
  assert.equal(await page.locator('main img, main script, main iframe').count(), 0)
  await page.context().close()
  assert.deepEqual(seen, [])
}

/** What axe finds of weight. It needs eval, which the policy of the page refuses; so this page goes without the policy. */
async function findings(path, options) {
  const page = await open(path, { bypassCSP: true, ...options })
  await page.waitForTimeout(700)
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => window.axe.run())
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  await page.context().close()
  return [
    ...violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => `${path}: ${id}: ${nodes[0].html.slice(0, 120)}`),
    ...(wide ? [`${path}: wider than the window`] : []),
  ]
}

const own = `/ops/w/${workspace}`
const views = [
  ...[
    '',
    '/endpoints',
    '/endpoints/new',
    '/endpoints/stock',
    '/endpoints/stock/edit',
    '/events',
    '/events/event-0',
    '/sources',
  ].map((path) => own + path),
  ...['/sources/shop', '/sources/new', '/plugins', '/plugins/new', '/catalogue', '/configuration', '/deliveries'].map(
    (path) => own + path,
  ),
  '/ops',
  '/ops/workspaces',
  '/ops/system',
  '/ops/unknown',
]

const main = [own, `${own}/endpoints`, `${own}/endpoints/stock`, `${own}/endpoints/new`, `${own}/events/event-0`]

void test('axe finds nothing serious on any view of the dashboard, nor on the main ones in dark and at 360 px; nothing is too wide', async () => {
  const found = []
  for (const path of views) found.push(...(await findings(path)))
  for (const path of main) found.push(...(await findings(path, { colorScheme: 'dark' })))
  for (const path of main) found.push(...(await findings(path, { viewport: { width: 360, height: 740 } })))
  assert.deepEqual(found, [])
})

void test('hostile data and answers are text', async () => {
  const page = await open(`${own}/events/event-0`)
  await page.getByText('window.hacked').first().waitFor()
  await close(page)
})

void test('an operator adds an endpoint with a wrong url, mends the url, sends a test event, rotates the secret', async () => {
  const page = await open(`${own}/endpoints`)
  await page.getByRole('link', { name: 'Add endpoint' }).click()
  await page.getByLabel('URL').fill('ftp://files.example')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('value must be an http or https URL').waitFor()
  await page.getByLabel('URL').fill(`${hooks}/ok`)
  await page.getByLabel('Name').fill('New one')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'New one' }).waitFor()
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('The endpoint answered 200').waitFor()
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await page.getByText('A new secret signs deliveries.').waitFor()
  assert.equal(await page.locator('.secret code').count(), 2)
  seen = seen.filter((each) => !each.includes('status of 400')) // what the browser tells of the refused url
  await close(page)
})

void test('a document is checked as a difference, and applied', async () => {
  const page = await open(`${own}/configuration`)
  const text = await page.locator('pre').first().textContent()
  await page.getByRole('textbox', { name: 'Document' }).fill(text.replace('name: Warehouse', 'name: Depot'))
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('+       name: Depot').or(page.getByText('name: Depot')).first().waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('The document was applied.').waitFor()
  assert.equal((await posthorn.endpoints.get(workspace, 'stock')).name, 'Depot')
  await close(page)
})

void test('the portal: a customer adds an endpoint, sees the test fail, turns the endpoint off and on', async () => {
  const { url, token } = await customers.session(workspace)
  const page = await open(`${base}${url}`)
  assert.ok(!page.url().includes(token), 'the token stays in the address')
  await page.getByRole('link', { name: 'Add endpoint' }).click()
  await page.getByLabel('URL').fill(`${hooks}/mended`)
  await page.getByLabel('Description').fill('Mine')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'Mine' }).waitFor()
  const sendTest = async () => {
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send test event' }).click()
  }
  await sendTest()
  await page.getByText('was not delivered: 500').waitFor()
  healthy = true
  await sendTest()
  await page.getByText('answered 200').waitFor()
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText(/^whsec_/).waitFor()
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('This endpoint is off').waitFor()
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('dialog').getByText('Since the endpoint was off').waitFor({ state: 'attached' })
  await page.keyboard.press('Escape')
  await close(page)
})

void test('the portal without a token says so', async () => {
  const page = await open('/webhooks/')
  await page.getByText('This link has ended').waitFor()
  await page.context().close()
})

void test('by keyboard alone: skip to the content, walk to a row, open the row', async () => {
  const page = await open(`${own}/endpoints`)
  await page.getByRole('link', { name: 'Billing' }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content')
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate(() => document.activeElement.textContent)) === 'Billing') break
  }
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Billing' }).waitFor()
  await close(page)
})

void test('pictures of the main views', async () => {
  for (const [name, path] of [
    ['overview', own],
    ['endpoint', `${own}/endpoints/billing`],
  ]) {
    const page = await open(path)
    await page.waitForTimeout(900)
    await page.screenshot({ path: `${pictures}${name}.png` })
    await close(page)
  }
})
