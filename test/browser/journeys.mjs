// What operators and customers do, from the first click to the last, on a storage of the caller's.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { startBrowser } from './browser.mjs'
import { fillLittle, receiver, startInstance, workspace } from './instance.mjs'

const own = `/ops/w/${workspace}`
const dialogButton = (page, name) => page.getByRole('dialog').getByRole('button', { name })

/** Waits until what is asked is so: the instance works at its own pace. */
async function until(isSo) {
  for (const end = Date.now() + 10_000; !(await isSo()); await sleep(20)) {
    if (Date.now() > end) assert.fail(`not within 10 s: ${isSo}`)
  }
}

/** Registers the journeys. `openStorage` answers the storage; undefined: memory. */
export function journeys(engine, openStorage) {
  let instance, pages

  before(async () => {
    instance = await startInstance({ storage: await openStorage() })
    await fillLittle(instance)
    pages = await startBrowser(instance)
  })
  after(async () => {
    await pages?.stop()
    await instance?.stop()
  })
  const publish = (event_type, count) =>
    instance.posthorn.events.createMany(
      workspace,
      Array.from({ length: count }, (_, n) => ({ event_type, data: { n } })),
    )

  void describe(engine, () => {
    ofOperators(() => ({ ...instance, ...pages, publish }))
    ofCustomers(() => ({ ...instance, ...pages, publish }))
  })
}

function ofOperators(given) {
  void test('an operator adds an endpoint with a wrong url, mends the url, sends a test event, rotates the secret', async () => {
    const { open, close, hooks } = given()
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
    await dialogButton(page, 'Send test event').click()
    await page.getByText('The endpoint answered 200').waitFor()
    await page.getByRole('button', { name: 'Rotate' }).click()
    await dialogButton(page, 'Rotate').click()
    await page.getByText('A new secret signs deliveries.').waitFor()
    assert.equal(await page.locator('.secret code').count(), 2)
    await close(page, { expected: ['status of 400'] }) // what the browser tells of the refused url
  })

  void test('an operator finds why an endpoint is off, turns it on, recovers what was missed', async () => {
    const { open, close, hooks, posthorn, publish } = given()
    receiver.healthy = false
    await posthorn.endpoints.create(workspace, {
      id: 'partner',
      name: 'Partner feed',
      request: { url: `${hooks}/away` },
      events: ['customer.address.changed'],
    })
    await publish('customer.address.changed', 1)
    await until(async () => (await posthorn.endpoints.get(workspace, 'partner')).disabled_reason === 'gone')
    await publish('customer.address.changed', 7)
    receiver.healthy = true

    const page = await open(own)
    await page.getByRole('region', { name: 'Operational events' }).getByText('endpoint turned off').first().waitFor()
    const failing = page.getByRole('region', { name: 'Failing endpoints' }).getByRole('listitem')
    await failing.filter({ hasText: 'The receiver answered 410 Gone.' }).getByRole('link').click()
    await page.getByText('This endpoint is off').waitFor()
    await page.getByText('The receiver answered 410 Gone.').waitFor()
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('The endpoint is on.').waitFor()
    await dialogButton(page, 'Send 7').click()
    await page.getByText('7 deliveries were made.').waitFor()
    const delivered = page.getByRole('table', { name: 'Latest deliveries' }).getByText('Delivered')
    await delivered.nth(6).waitFor()
    const { data } = await posthorn.deliveries.list(workspace, { endpoint_id: 'partner', status: 'DELIVERED' })
    assert.equal(data.length, 7)
    await close(page)
  })

  void test('an operator resends a failed delivery, those selected, and all that failed', async () => {
    const { open, close, hooks, posthorn, publish } = given()
    receiver.healthy = false
    await posthorn.endpoints.create(workspace, {
      id: 'mended',
      name: 'Mended',
      request: { url: `${hooks}/mended` },
      events: ['order.placed'],
      retry: { config: { attempts: [0] } },
    })
    await publish('order.placed', 6)
    const count = async (status) =>
      (await posthorn.deliveries.list(workspace, { endpoint_id: 'mended', status })).data.length
    await until(async () => (await count('FAILED')) === 6)
    receiver.healthy = true

    const page = await open(`${own}/deliveries?endpoint_id=mended&status=FAILED`)
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByText('answered 500').waitFor()
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('Try 2').waitFor()
    await page.getByText('answered 200').waitFor()
    assert.equal(await count('FAILED'), 5)

    await page.goBack()
    await page
      .getByRole('checkbox', { name: /^Select order/ })
      .first()
      .check()
    await page
      .getByRole('checkbox', { name: /^Select order/ })
      .nth(1)
      .check()
    await page.getByRole('button', { name: 'Resend selected' }).click()
    await page.getByText('2 sent once more.').waitFor()
    await until(async () => (await count('DELIVERED')) === 3)

    await page.getByRole('button', { name: 'Resend all failed' }).click()
    await page.getByText('3 failed or canceled deliveries meet these filters.').waitFor()
    await dialogButton(page, 'Resend').click()
    await page.getByText('3 sent once more.').waitFor()
    await page.getByText('No delivery meets these filters').waitFor()
    await until(async () => (await count('DELIVERED')) === 6)
    await close(page)
  })

  void test('a document is checked as a difference, and applied', async () => {
    const { open, close, posthorn } = given()
    const page = await open(`${own}/configuration`)
    await page.getByRole('button', { name: 'Show' }).click()
    const text = await page.locator('pre').first().textContent()
    await page.getByRole('textbox', { name: 'Document' }).fill(text.replace('name: Warehouse', 'name: Depot'))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.locator('.diff-remove').filter({ hasText: 'name: Warehouse' }).waitFor()
    await page.locator('.diff-add').filter({ hasText: 'name: Depot' }).waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('The document was applied.').waitFor()
    assert.equal((await posthorn.endpoints.get(workspace, 'stock')).name, 'Depot')
    await close(page)
  })

  void test('by keyboard alone: skip to the content, open a row, send a test event, leave a dialog', async () => {
    const { open, close } = given()
    const page = await open(`${own}/endpoints`)
    await page.getByRole('link', { name: 'Billing' }).waitFor()
    const focused = () => page.evaluate(() => document.activeElement.textContent)
    const walkTo = async (name) => {
      for (let i = 0; i < 60; i++) {
        if ((await focused()) === name) return
        await page.keyboard.press('Tab')
      }
      assert.fail(`Tab does not lead to ${name}`)
    }
    await page.keyboard.press('Tab')
    assert.equal(await focused(), 'Skip to the content')
    await page.keyboard.press('Enter')
    await walkTo('Billing')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Billing' }).waitFor()
    await walkTo('Send test event')
    // Again and again: a key that comes at once after Escape opens the dialog too.
    for (let n = 0; n < 20; n++) {
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ timeout: 5000 })
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal(await focused(), 'Send test event')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter') // in the field: sends
    await page.getByText('The endpoint answered 200').waitFor()
    await close(page)
  })
}

function ofCustomers(given) {
  void test('a customer adds an endpoint, sees the test fail, mends the url, resends, turns the endpoint off and on', async () => {
    const { open, close, base, hooks, customers, publish } = given()
    const { url, token } = await customers.session(workspace)
    const page = await open(`${base}${url}`)
    assert.ok(!page.url().includes(token), 'the token stays in the address')
    await page.getByRole('link', { name: 'Add endpoint' }).click()
    await page.getByLabel('URL').fill(`${hooks}/bad`)
    await page.getByLabel('Description').fill('Mine')
    await page.getByLabel('Every event, now and later').uncheck()
    await page.getByRole('checkbox', { name: 'invoice.overdue' }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Mine' }).waitFor()
    const sendTest = async () => {
      await page.getByRole('button', { name: 'Send test event' }).click()
      await dialogButton(page, 'Send test event').click()
    }
    await sendTest()
    await page.getByText('was not delivered: 500').waitFor()
    await publish('invoice.overdue', 1)

    await page.getByRole('link', { name: 'Edit' }).click()
    assert.equal(await page.getByLabel('Other types').inputValue(), '')
    await page.getByLabel('URL').fill(`${hooks}/ok`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Mine' }).waitFor()
    await sendTest()
    await page.getByText('answered 200').waitFor()
    const failed = page.getByRole('row').filter({ hasText: 'Retrying' }).first()
    await failed.getByRole('link', { name: 'invoice.overdue' }).click()
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('answered 200').waitFor()
    await page.getByRole('heading', { name: /Delivered/ }).waitFor()

    await page.getByRole('link', { name: 'Mine' }).click()
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('This endpoint is off').waitFor()
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('dialog').getByText('Since the endpoint was off').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await close(page)
  })
}
