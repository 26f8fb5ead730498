// What a host writes, compiled by each version of TypeScript that is supported. See check.js.
import * as v from 'valibot'
import {
  backoff,
  createPosthorn,
  definePlugin,
  isRetryable,
  PosthornError,
  type Delivery,
  type Endpoint,
  type EndpointInput,
  type Event,
  type Options,
  type Posthorn,
  type StatsReport,
} from 'posthorn'

const stamp = definePlugin({
  name: 'stamp',
  sides: ['outbound'],
  config: v.object({ header: v.string() }),
  prepare: ({ header }) => ({
    outbound: (request, { event }) => ({ ...request, headers: { ...request.headers, [header]: event.id } }),
  }),
})

const plain: Posthorn = createPosthorn()
const typed = createPosthorn({
  events: {
    'invoice.paid': v.object({ amount: v.number() }),
    'order.made': { schema: v.object({ id: v.string() }), description: 'An order was made.' },
  },
  plugins: [stamp],
  deliver: { concurrency: 4, deny: ['@default'], sign: 'standard-webhooks' },
})

const seen: unknown[] = []

export async function use(options: Options, input: EndpointInput): Promise<Endpoint> {
  createPosthorn(options)
  const endpoint = await plain.endpoints.create('acme', {
    ...input,
    retry: { config: { attempts: backoff({ base: 5, factor: 2, max: 60, tries: 3 }) } },
  })
  const { event_type, data } = await typed.events.create('acme', { event_type: 'invoice.paid', data: { amount: 1 } })
  if (event_type === 'invoice.paid') {
    seen.push(data.amount satisfies number)
  }
  // @ts-expect-error the type is not in the catalogue
  await typed.events.create('acme', { event_type: 'invoice.sent', data: {} })
  // @ts-expect-error the amount is a number
  await typed.events.create('acme', { event_type: 'invoice.paid', data: { amount: '1' } })
  await typed.plugins.create('acme', { name: 'stamp', endpoint_id: endpoint.id, config: { header: 'x-stamp' } })
  // @ts-expect-error the header is a text
  await typed.plugins.create('acme', { name: 'stamp', endpoint_id: endpoint.id, config: { header: 5 } })
  const byPage = await plain.endpoints.list('acme', { page_no: 1 })
  const total: number = byPage.total
  const byCursor = await plain.deliveries.list('acme', { limit: 10 })
  const next: string | null = byCursor.next
  const rows: readonly Delivery[] = byCursor.data
  const report: StatsReport = await plain.stats('acme', { step: 'hour' })
  for await (const event of plain.events.each('acme')) {
    const { id }: Event = event
    seen.push(id, total, next, rows.length, report.data.length)
  }
  plain.on('exhausted', ({ attempt }) => seen.push(attempt.id))
  return endpoint
}

export function codeOf(error: unknown): string {
  return error instanceof PosthornError ? error.code : String(isRetryable(error))
}
