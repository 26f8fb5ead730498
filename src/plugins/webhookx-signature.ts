import { definePlugin } from '../contracts/plugin.ts'
import type { Platform } from '../contracts/platform.ts'
import { goOn } from '../core/awaitable.ts'
import { bytesOf, hexOf } from '../core/encoding.ts'
import { withHeaders } from '../core/request.ts'
import { webhookxContent } from '../core/signed-content.ts'
import { object, text } from '../schema/fields.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Signs deliveries as WebhookX does: `Webhookx-Signature: v1=<hex HMAC-SHA256 of "<timestamp>.<body>">`, with
 * `Webhookx-Timestamp` of the try in unix seconds. The secret is 32 random letters and digits when none is given.
 */
export const webhookxSignature = definePlugin({
  name: 'webhookx-signature',
  sides: ['outbound'],
  secrets: ['signing_secret'],
  config: object({ signing_secret: text({ min: 1 }) }),
  fill: (config, platform) => ({ ...config, signing_secret: config['signing_secret'] ?? randomText(32, platform) }),
  prepare({ signing_secret }, platform) {
    const key = bytesOf(signing_secret)
    return {
      outbound(request, { now, event, attempt }) {
        const timestamp = String(Math.floor(now / 1000))
        const content = webhookxContent(timestamp, request.body ?? '')
        return goOn(platform.hmac('sha-256', key, content), (mac) =>
          withHeaders(request, {
            'webhookx-event-id': event.id,
            'webhookx-delivery-id': attempt.id,
            'webhookx-timestamp': timestamp,
            'webhookx-signature': `v1=${hexOf(mac)}`,
          }),
        )
      },
    }
  },
})

/** Letters and digits, each as likely as the other: bytes beyond the last multiple of 62 are drawn again. */
function randomText(length: number, platform: Platform): string {
  const fair = 256 - (256 % alphabet.length)
  let drawn = ''
  while (drawn.length < length) {
    for (const byte of platform.randomBytes(length)) {
      if (byte < fair && drawn.length < length) drawn += alphabet[byte % alphabet.length]!
    }
  }
  return drawn
}
