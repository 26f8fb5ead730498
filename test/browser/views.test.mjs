// Every view of both pages in a real browser: `npm run build && npm ci --prefix test/browser && npm test --prefix test/browser`.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startBrowser } from './browser.mjs'
import { fillLittle, startInstance, workspace } from './instance.mjs'

/** Texts that would run, load or break out somewhere, were they taken for more than text. */
const corpus = [
  '<script>window.hacked=1</script>',
  '</script><script>window.hacked=1</script>',
  '"><img src=x onerror="window.hacked=1">',
  '<svg/onload=window.hacked=1>',
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '<math><mtext></mtext><mglyph><style><img src=x onerror=window.hacked=1></style></mglyph></math>',
  '<a href="javascript:window.hacked=1">open</a>',
  'javascript:window.hacked=1',
  '{{constructor.constructor("window.hacked=1")()}}',
  '${window.hacked=1}',
  '<style>@import "https://evil.example/x";</style>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<base href="https://evil.example/">',
  '\u202Etxt.exe \u2028 \uFFFE \u0007',
  '__proto__',
  '<b>'.repeat(5000),
]

let instance, pages, portalPath

before(async () => {
  instance = await startInstance()
  await fillLittle(instance)
  const { posthorn, hooks, customers } = instance
  for (const [i, note] of corpus.entries()) {
    const data = { note, [note.slice(0, 200)]: i, constructor: note }
    await posthorn.events.create(workspace, { id: `hostile-${i}`, event_type: 'invoice.paid', data })
  }
  await posthorn.endpoints.create(workspace, {
    id: 'hostile',
    name: corpus[2],
    description: corpus[0],
    request: { url: `${hooks}/ok?${encodeURIComponent(corpus[3])}`, headers: { 'x-note': corpus[0] } },
    events: ['no.such'],
    metadata: { [corpus[1]]: corpus[2] },
  })
  await posthorn.drain({ maxMs: 5000 }).catch(() => {})
  pages = await startBrowser(instance)
  const { url } = await customers.session(workspace)
  portalPath = (path) => url.replace('/#', `${path}#`)
})

after(async () => {
  await pages?.stop()
  await instance?.stop()
})

const own = `/ops/w/${workspace}`
const main = ['', '/endpoints', '/endpoints/stock', '/endpoints/new', '/events/event-0', '/deliveries']
const further =
  '/endpoints/stock/edit /events /sources /sources/shop /sources/new /plugins /plugins/new /catalogue /configuration /deliveries/event-0/stock'.split(
    ' ',
  )
const dashboards = [
  ...[...main, ...further].map((path) => own + path),
  '/ops',
  '/ops/workspaces',
  '/ops/system',
  '/ops/unknown',
]
const portals = ['/', '/endpoints/stock', '/endpoints/new', '/deliveries', '/deliveries/event-0/stock', '/catalogue']
const dark = { colorScheme: 'dark' }
const narrow = { viewport: { width: 360, height: 740 } }

async function foundOn(paths, options) {
  const found = []
  for (const path of paths) found.push(...(await pages.findings(path, options)))
  return found
}

void test('axe finds nothing serious on any view of the dashboard, and nothing is too wide', async () => {
  assert.deepEqual(await foundOn(dashboards), [])
})

void test('nor on the main ones in dark and at 360 px', async () => {
  const paths = main.map((path) => own + path)
  assert.deepEqual([...(await foundOn(paths, dark)), ...(await foundOn(paths, narrow))], [])
})

void test('nor on the views of the portal, at 360 px in dark neither', async () => {
  const paths = [...portals, '/verify'].map(portalPath)
  assert.deepEqual([...(await foundOn(paths)), ...(await foundOn(paths.slice(0, 4), { ...dark, ...narrow }))], [])
})

void test('hostile data, answers and names are text', async () => {
  for (let i = 0; i < corpus.length; i++) {
    const page = await pages.open(`${own}/events/hostile-${i}`)
    await page.getByRole('heading', { name: 'invoice.paid' }).waitFor()
    await page.locator('main pre').first().waitFor()
    await pages.close(page)
  }
  for (const path of [`${own}/deliveries/event-0/stock`, `${own}/endpoints/hostile`, `${own}/endpoints`]) {
    const page = await pages.open(path)
    await page.getByText('window.hacked').first().waitFor()
    await pages.close(page)
  }
})

void test('the portal without a token says so', async () => {
  const page = await pages.open('/webhooks/')
  await page.getByText('This link has ended').waitFor()
  await page.context().close()
})
