import { definePlugin } from '../contracts/plugin.ts'
import { equalText } from '../core/constant-time.ts'
import { base64Of, base64UrlOf, bytesOf, hexOf } from '../core/encoding.ts'
import { object, oneOf, text, withDefault } from '../schema/fields.ts'
import { headerName } from './header-name.ts'
import { unauthorized } from './unauthorized.ts'

const encoders = { hex: hexOf, base64: base64Of, base64url: base64UrlOf }

/** Lets requests pass whose header holds the HMAC of the raw body; hex digits may be of either case, base64url is unpadded. */
export const hmacAuth = definePlugin({
  name: 'hmac-auth',
  sides: ['inbound'],
  secrets: ['secret'],
  config: object({
    hash: withDefault(oneOf(['md5', 'sha-1', 'sha-256', 'sha-512']), 'sha-256'),
    encoding: withDefault(oneOf(['hex', 'base64', 'base64url']), 'hex'),
    signature_header: headerName,
    secret: text({ min: 1 }),
  }),
  prepare({ hash, encoding, signature_header, secret }, platform) {
    const key = bytesOf(secret)
    const encode = encoders[encoding]
    return {
      async inbound(request) {
        const header = request.headers.get(signature_header) ?? ''
        const given = encoding === 'hex' ? header.toLowerCase() : header
        const expected = encode(await platform.hmac(hash, key, request.body))
        return equalText(expected, given) ? request : unauthorized()
      },
    }
  },
})
