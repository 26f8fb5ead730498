import createClient from 'openapi-fetch'

import type { paths } from '../made/openapi-typescript'
import { given, hook, hour, type Seen } from './seen'

export async function run(url: string, workspace: string): Promise<Seen> {
  const client = createClient<paths>({ baseUrl: url })
  const path = { ws_id: workspace }
  const endpoint = await client.POST('/workspaces/{ws_id}/endpoints', {
    params: { path },
    body: { name: workspace, events: ['invoice.*'], request: { url: hook } },
  })
  const published = await client.POST('/workspaces/{ws_id}/events', {
    params: { path },
    body: { event_type: 'invoice.paid', data: { amount: 4200 } },
  })
  const event = given(published.data)
  const list = async (query: { 'created_at[gte]'?: number; 'created_at[gt]'?: number; limit?: number }) =>
    given((await client.GET('/workspaces/{ws_id}/events', { params: { path, query } })).data).data
  const page = await list({ 'created_at[gte]': event.created_at, limit: 10 })
  const later = await list({ 'created_at[gt]': event.created_at + hour })
  const dump = await client.POST('/workspaces/{ws_id}/config/dump', { params: { path, query: { format: 'json' } } })
  const document = given(dump.data)
  if (typeof document === 'string') throw new Error('the dump is no JSON')
  return {
    endpoint: given(endpoint.data).id,
    event: event.id,
    listed: page.map(({ id }) => id),
    later: later.length,
    dumped: given(document.endpoints).map(({ name }) => name),
  }
}
