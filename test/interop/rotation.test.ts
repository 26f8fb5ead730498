import { createPrivateKey, createPublicKey, verify as verifyByNode } from 'node:crypto'

import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'

import { memory } from '../../adapters/memory/index.ts'
import { createTestPosthorn, type TestPosthorn } from '../../src/testing/test-posthorn.ts'
import { verifyWebhook } from '../../src/verify.ts'

// An endpoint's secret is rotated while 1,000 deliveries a minute go out. A receiver that switches at any moment of the
// overlap must take every delivery: those before with the old secret, those after with the new one.

type Delivery = TestPosthorn['deliveries'][number]
type Takes = (secret: string, delivery: Delivery) => Promise<boolean>

const url = 'https://shop.test/hooks'
const everyMs = 60
const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const whsk = `whsk_${Buffer.alloc(32, 5).toString('base64')}`
/** RFC 8410: what stands before the 32 bytes of an Ed25519 key in DER. */
const privateHead = Buffer.from('302e020100300506032b657004220420', 'hex')
const publicHead = Buffer.from('302a300506032b6570032100', 'hex')

/** The public half of a `whsk_` secret, derived by node:crypto. */
function publicKeyOf(secret: string) {
  const seed = Buffer.from(secret.slice('whsk_'.length), 'base64').subarray(0, 32)
  return createPublicKey(createPrivateKey({ key: Buffer.concat([privateHead, seed]), format: 'der', type: 'pkcs8' }))
}

const byLibrary: Takes = async (secret, { headers, body }) => {
  try {
    new Webhook(secret).verify(body ?? '', headers)
    return true
  } catch {
    return false
  }
}

const byNode: Takes = async (secret, { headers, body }) => {
  const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
  const signatures = (headers['webhook-signature'] ?? '').split(' ').filter((each) => each.startsWith('v1a,'))
  const key = publicKeyOf(secret)
  return signatures.some((each) => verifyByNode(null, content, key, Buffer.from(each.slice(4), 'base64')))
}

const byPosthorn: Takes = async (secret, { headers, body }) => {
  const bytes = publicKeyOf(secret).export({ format: 'der', type: 'spki' }).subarray(publicHead.length)
  const written = secret.startsWith('whsk_') ? `whpk_${bytes.toString('base64')}` : secret
  return await verifyWebhook({ headers, body: body ?? '' }, written, { parse: false }).then(
    () => true,
    () => false,
  )
}

test.each<[string, string, readonly Takes[]]>([
  ['v1, by the reference library', whsec, [byLibrary]],
  ['v1a, by node:crypto and posthorn/verify', whsk, [byNode, byPosthorn]],
])('%s: nothing is rejected', { timeout: 60_000 }, async (_name, first, receivers) => {
  // The libraries keep the time themselves and take five minutes either way; the run takes one.
  const posthorn = createTestPosthorn({ storage: memory(), startAt: Date.now() - 30_000 })
  await posthorn.endpoints.create('default', { id: 'shop', request: { url }, events: ['*'] })
  const config = { secrets: [first] }
  await posthorn.plugins.create('default', { name: 'standard-webhooks', endpoint_id: 'shop', config })
  const publish = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 10) {
      const events = Array.from({ length: 10 }, (_, n) => ({ event_type: 'order.paid', data: { i: i + n } }))
      await posthorn.events.createMany('default', events)
      await posthorn.advance(10 * everyMs)
    }
  }
  await publish(200)
  const rotatedAt = posthorn.deliveries.length
  const { secret } = await posthorn.endpoints.rotateSecret('default', 'shop', { overlap_seconds: 36 })
  expect(secret.slice(0, 5)).toBe(first.slice(0, 5))
  await publish(600)
  const endedAt = posthorn.deliveries.length
  await publish(200)
  expect(posthorn.deliveries).toHaveLength(1000)

  for (const takes of receivers) {
    const verdicts = (secret: string, from: number, to: number) =>
      Promise.all(posthorn.deliveries.slice(from, to).map((delivery) => takes(secret, delivery)))
    expect(await verdicts(first, 0, endedAt)).not.toContain(false)
    expect(await verdicts(secret, rotatedAt, 1000)).not.toContain(false)
    expect(await verdicts(first, endedAt, 1000)).not.toContain(true)
    expect(await verdicts(secret, 0, rotatedAt)).not.toContain(true)
  }
})
