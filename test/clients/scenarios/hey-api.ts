import { configDump, endpointsCreate, eventsCreate, eventsList } from '../made/hey-api'
import { createClient } from '../made/hey-api/client'
import { given, hook, hour, type Seen } from './seen'

export async function run(url: string, workspace: string): Promise<Seen> {
  const client = createClient({ baseUrl: url })
  const path = { ws_id: workspace }
  const endpoint = await endpointsCreate({
    client,
    path,
    body: { name: workspace, events: ['invoice.*'], request: { url: hook } },
  })
  const published = await eventsCreate({
    client,
    path,
    body: { event_type: 'invoice.paid', data: { amount: 4200 } },
  })
  const event = given(published.data)
  const page = await eventsList({ client, path, query: { 'created_at[gte]': event.created_at, limit: 10 } })
  const later = await eventsList({ client, path, query: { 'created_at[gt]': event.created_at + hour } })
  const dump = await configDump({ client, path, query: { format: 'json' } })
  const document = given(dump.data)
  if (typeof document === 'string') throw new Error('the dump is no JSON')
  return {
    endpoint: given(endpoint.data).id,
    event: event.id,
    listed: given(page.data).data.map(({ id }) => id),
    later: given(later.data).data.length,
    dumped: given(document.endpoints).map(({ name }) => name),
  }
}
