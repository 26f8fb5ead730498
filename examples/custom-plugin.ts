// A plugin of your own: this one masks fields of the data before it leaves, and before it is signed.
import { createPosthorn, definePlugin } from 'posthorn'
import * as v from 'valibot'

const maskFields = definePlugin({
  name: 'mask-fields',
  sides: ['outbound'],
  config: v.object({ fields: v.array(v.string()) }), // checked whenever the plugin is written
  after: ['function'], // a place in the run order; without one it would be this very place
  prepare({ fields }) {
    // Once for each stored version: what costs time belongs here, not into the function below.
    const masked = new Set(fields)
    return {
      outbound(request) {
        if (request.body === null) return request
        const body = JSON.stringify(JSON.parse(request.body), (key, value: unknown) =>
          masked.has(key) ? '***' : value,
        )
        return { ...request, body }
      },
    }
  },
})

const posthorn = createPosthorn({
  plugins: [maskFields],
  // Shows what would be sent instead of sending it.
  http: {
    send: async ({ headers, body }) => {
      console.log(body)
      console.log('signed:', headers['webhook-signature']?.startsWith('v1,'))
      return { kind: 'response', status: 200, headers: {}, body: '', ended: true }
    },
  },
})

await posthorn.config.sync('default', {
  endpoints: [
    {
      name: 'shop',
      request: { url: 'https://shop.example/hooks' },
      events: ['*'],
      plugins: [{ name: 'mask-fields', config: { fields: ['card', 'iban'] } }, { name: 'standard-webhooks' }],
    },
  ],
})
await posthorn.events.create('default', {
  event_type: 'order.paid',
  data: { order: 7, payment: { card: '4242 4242 4242 4242' } },
})
await posthorn.drain()
