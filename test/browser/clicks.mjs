// How long each click takes until what it asks for is shown, and until nothing of the view still loads, with 100,000
// deliveries stored on PostgreSQL:
// `node clicks.mjs [tries] [parts of clicks]`. It prints a table and asserts nothing.
import { startBrowser } from './browser.mjs'
import { fillMonth, startInstance, workspace } from './instance.mjs'
import { startPostgres } from './postgres.mjs'

const [tries = 7, ...parts] = process.argv.slice(2)
const server = await startPostgres({ max_connections: '100', shared_buffers: '256MB' })
const instance = await startInstance({ storage: server.storage })
const { posthorn, customers, base } = instance
const say = (text) => process.stdout.write(`${text}\n`)
say('Filling…')
await fillMonth(instance, { perHour: 110 })
const { data } = await posthorn.stats(workspace, { from: Date.now() - 31 * 86_400_000, step: 'day' })
say(
  `${data.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)} tries stored in one workspace of three`,
)

const pages = await startBrowser(instance)
const own = `/ops/w/${workspace}`
const failed = (await posthorn.deliveries.list(workspace, { limit: 1, status: 'FAILED' })).data[0]
const { url } = await customers.session(workspace)
const rows = 'main table tbody tr'
const link = (text) => `a:${text}`
const button = (text) => `button:${text}`
/** Where one is, what is clicked, what is then to be seen. A click `select:LABEL:VALUE` chooses. */
const dashboardClicks = [
  ...['Deliveries', 'Endpoints', 'Events', 'Sources', 'Plugins', 'Workspaces', 'System'].map((name) => [
    own,
    link(name),
    rows,
  ]),
  [own, link('Catalogue'), 'main details'],
  [own, link('Configuration'), 'main section:last-of-type p'],
  [`${own}/configuration`, button('Show'), 'main pre'],
  [own, link('All workspaces'), rows],
  [`${own}/deliveries`, link('Overview'), 'main .chart'],
  [own, 'select:Period:1h', 'main .chart'],
  [own, 'select:Period:7d', 'main .chart'],
  [own, 'select:Period:30d', 'main .chart'],
  [`${own}/endpoints`, link('Warehouse'), 'main .chart'],
  [`${own}/endpoints/warehouse`, 'select:Period:30d', 'main .chart'],
  [`${own}/endpoints/warehouse`, button('Show'), '.secret'],
  [`${own}/endpoints/legacy`, button('Recover'), 'dialog .primary:not(:disabled)'],
  [`${own}/endpoints/warehouse`, link('Edit'), 'main form'],
  [`${own}/deliveries`, 'first row', 'main .timeline .code'],
  [`${own}/deliveries`, button('Older'), `${rows}:nth-child(25)`],
  [`${own}/deliveries`, 'select:Status:FAILED', `${rows} .tone-bad`],
  [`${own}/deliveries`, 'select:Status:CANCELED', `${rows} .tone-dim`],
  [`${own}/deliveries`, 'select:Status:PENDING', `${rows} .tone-info`],
  [`${own}/deliveries`, 'select:Endpoint:legacy', rows],
  [`${own}/deliveries?endpoint_id=ledger`, 'select:Status:FAILED', 'main .empty'],
  [`${own}/deliveries`, 'select:Time:24h', rows],
  [`${own}/deliveries?event_type=invoice.overdue`, 'select:Status:FAILED', `${rows} .tone-bad`],
  [`${own}/deliveries`, button('Resend all failed'), 'dialog .primary'],
  [
    `${own}/deliveries/${failed.event_id}/${failed.endpoint_id}`,
    'main .try:last-child summary',
    'main .try:last-child .code',
  ],
  [`${own}/events`, 'first row', 'main .rows li'],
  [`${own}/events`, button('Older'), `${rows}:nth-child(25)`],
  [`${own}/events`, 'select:Time:7d', rows],
  [`${own}/events`, button('Send an event'), 'dialog'],
  [`${own}/sources`, link('Shop'), rows],
]
const portalClicks = [
  ['/', link('Deliveries'), rows],
  ['/', link('Catalogue'), 'main details'],
  ['/', link('Verify deliveries'), 'main pre'],
  ['/deliveries', link('Endpoints'), rows],
  ['/deliveries', 'select:Status:FAILED', `${rows} .tone-bad`],
  ['/deliveries', 'first row', 'main .timeline .code'],
  ['/endpoints/warehouse', 'select:Period:30d', 'main .chart'],
]

/** Clicks inside the page and waits until the wanted is there (`shown`) and nothing of the view still loads (`whole`). Milliseconds. */
function timed({ what, wanted }) {
  const [kind, name, value] = what.split(':')
  const withText = (selector) =>
    [...document.querySelectorAll(selector)].find((each) => each.textContent.trim() === name)
  const labelled = () =>
    [...document.querySelectorAll('label')].find((each) => each.querySelector('span')?.textContent === name)
  const element = {
    a: () => withText('a'),
    button: () => withText('button'),
    select: () => labelled()?.querySelector('select'),
    'first row': () => document.querySelector('main table tbody tr a'),
  }
  const target = (element[kind] ?? (() => document.querySelector(what)))()
  if (!target) throw new Error(`nothing to click: ${what}`)
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    const times = {}
    const loads = (place) => place.querySelector('.loading') !== null
    const isShown = () => {
      const found = document.querySelector(wanted)
      return found !== null && !loads(found.closest('section') ?? found)
    }
    const note = (name) =>
      requestAnimationFrame(() => {
        times[name] = performance.now() - begun
        if (times.shown !== undefined && times.whole !== undefined) resolve(times)
      })
    const noted = new Set()
    const end = setTimeout(() => reject(new Error(`not shown within 10 s: ${what}`)), 10_000)
    const look = () => {
      if (!isShown()) return
      const isWhole = !loads(document.querySelector('main'))
      for (const name of isWhole ? ['shown', 'whole'] : ['shown']) if (!noted.has(name)) note(name)
      noted.add('shown')
      if (!isWhole) return
      observer.disconnect()
      clearTimeout(end)
    }
    const observer = new MutationObserver(look)
    observer.observe(document.body, { subtree: true, childList: true, attributes: true })
    if (kind === 'select') {
      target.value = value
      target.dispatchEvent(new Event('change', { bubbles: true }))
    } else target.click()
    // What was there before the click counts once the view began anew.
    setTimeout(look, 16)
  })
}

async function measure([from, what, wanted]) {
  const times = []
  for (let i = 0; i < tries; i++) {
    const page = await pages.open(from)
    await page.waitForFunction(() => document.querySelector('main .loading') === null)
    await page.waitForTimeout(300)
    times.push(await page.evaluate(timed, { what, wanted }))
    await page.context().close()
  }
  return times
}

const all = [
  ...dashboardClicks,
  ...portalClicks.map(([path, ...rest]) => [url.replace('/#', `${path}#`).replace(/^/, base), ...rest]),
]
say('| on | click | shown, median ms | slowest ms | whole, median ms |')
for (const [from, what, wanted] of all) {
  if (parts.length > 0 && !parts.some((part) => what.includes(part))) continue
  const times = await measure([from, what, wanted])
  const place = from.replace(base, '').replace(/#.*/, '')
  const sorted = (name) => times.map((each) => Math.round(each[name])).toSorted((a, b) => a - b)
  const [shown, whole] = [sorted('shown'), sorted('whole')]
  const middle = Math.floor(times.length / 2)
  const isLate = shown[middle] > 100
  say(`| ${place} | ${what} | ${shown[middle]}${isLate ? ' !' : ''} | ${shown.at(-1)} | ${whole[middle]} |`)
}
await pages.stop()
await instance.stop()
await server.stop()
