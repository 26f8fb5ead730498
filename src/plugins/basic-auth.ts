import { definePlugin } from '../contracts/plugin.ts'
import { base64Of, bytesOf } from '../core/encoding.ts'
import { object, text } from '../schema/fields.ts'
import { headerSecretCheck } from './secret.ts'
import { unauthorized } from './unauthorized.ts'

/** Lets requests pass whose `Authorization: Basic` credentials are the configured credentials, in UTF-8 (RFC 7617). */
export const basicAuth = definePlugin({
  name: 'basic-auth',
  sides: ['inbound'],
  secrets: ['password'],
  config: object({ username: text(), password: text() }),
  async prepare({ username, password }, platform) {
    const matches = await headerSecretCheck(base64Of(bytesOf(`${username}:${password}`)), platform)
    return {
      async inbound(request) {
        const given = /^basic +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null
        return (await matches(given)) ? request : unauthorized()
      },
    }
  },
})
