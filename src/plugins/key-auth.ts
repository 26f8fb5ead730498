import * as v from 'valibot'

import { definePlugin } from '../contracts/plugin.ts'
import { bytesOf } from '../core/encoding.ts'
import { list, object, oneOf, text } from '../schema/fields.ts'
import { headerNameProblem } from './header-name.ts'
import { headerSecretCheck, secretCheck } from './secret.ts'
import { unauthorized } from './unauthorized.ts'

const config = v.pipe(
  object({
    param_name: text({ min: 1 }),
    param_locations: list(oneOf(['header', 'query']), { min: 1, unique: true }),
    key: text({ min: 1 }),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || !dataset.value.param_locations.includes('header')) return
    const message = headerNameProblem(dataset.value.param_name)
    if (message === null) return
    const { value: input } = dataset
    addIssue({
      message,
      path: [{ type: 'object', origin: 'value', input, key: 'param_name', value: input.param_name }],
    })
  }),
)

/** Lets requests pass that carry the key in the named header or query parameter, once. */
export const keyAuth = definePlugin({
  name: 'key-auth',
  sides: ['inbound'],
  secrets: ['key'],
  config,
  async prepare({ param_name, param_locations, key }, platform) {
    const matches = await secretCheck(key, platform)
    const matchesHeader = await headerSecretCheck(key, platform)
    return {
      async inbound(request) {
        for (const location of param_locations) {
          if (location === 'header') {
            if (await matchesHeader(request.headers.get(param_name))) return request
          } else {
            const [given, second] = request.url.searchParams.getAll(param_name)
            if (given !== undefined && second === undefined && (await matches(bytesOf(given)))) return request
          }
        }
        return unauthorized()
      },
    }
  },
})
