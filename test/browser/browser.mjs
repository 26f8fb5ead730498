// Chromium over an instance, and what must not happen on any page.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'

import { chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

/** Starts Debian's Chromium, or the one of the environment variable `CHROMIUM`. */
export async function launch() {
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return await chromium.launch({ executablePath, args: [...root, '--disable-dev-shm-usage'] })
}

/** Pages of an instance at `base`. `posthorn` is the instance. */
export async function startBrowser({ base, posthorn }) {
  const browser = await launch()
  let seen = []

  /** A page that tells all that must not happen: errors, refused content, requests to others. */
  async function open(path, options = {}) {
    seen = []
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    page.on('console', (message) => {
      // An instance without deliveries answers 404 to them.
      const isUnserved = posthorn.deliveries === undefined && message.location().url.includes('/deliveries')
      if (['error', 'warning'].includes(message.type()) && !isUnserved) seen.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => seen.push(`error: ${error.message}`))
    page.on('request', (request) => {
      const isOwn = /^(data:|blob:)/.test(request.url()) || request.url().startsWith(base)
      if (!isOwn) seen.push(`request: ${request.url()}`)
    })
    await page.addInitScript(() =>
      // oxlint-disable-next-line no-console -- the console is what the test reads
      addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective}`)),
    )
    await page.goto(path.startsWith('http') ? path : `${base}${path}`)
    await page.waitForSelector('main h1, main .empty')
    return page
  }

  /** Nothing ran that was recorded, and nothing was refused or asked of others. `expected`: parts of what may be told. */
  async function close(page, { expected = [] } = {}) {
    assert.equal(await page.evaluate(() => window.hacked), undefined)
    assert.equal(await page.locator('main img, main script, main iframe').count(), 0)
    await page.context().close()
    assert.deepEqual(
      seen.filter((each) => !expected.some((part) => each.includes(part))),
      [],
    )
  }

  /** What axe finds of weight. It needs eval, which the policy of the page refuses; so this page goes without the policy. */
  async function findings(path, options) {
    const page = await open(path, { bypassCSP: true, ...options })
    await page.waitForTimeout(600)
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

  return { open, close, findings, stop: () => browser.close() }
}
