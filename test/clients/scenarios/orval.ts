import { configDump, endpointsCreate, eventsCreate, eventsList } from '../made/orval/fetch'
import * as zod from '../made/orval/zod'
import { given, hook, hour, type Seen } from './seen'

/** The address is in the client, from `servers` of the document. Zod's schemas read each input and each answer. */
export async function run(_url: string, workspace: string): Promise<Seen> {
  const input = zod.endpointsCreateBody.parse({ name: workspace, events: ['invoice.*'], request: { url: hook } })
  const endpoint = await endpointsCreate(workspace, input)
  if (endpoint.status !== 201) throw new Error(`status ${endpoint.status}`)
  const body = zod.eventsCreateBody.parse({ event_type: 'invoice.paid', data: { amount: 4200 } })
  const published = await eventsCreate(workspace, body)
  if (published.status !== 201) throw new Error(`status ${published.status}`)
  const event = published.data
  const list = async (params: { 'created_at[gte]'?: number; 'created_at[gt]'?: number; limit?: number }) => {
    const answer = await eventsList(workspace, params)
    if (answer.status !== 200) throw new Error(`status ${answer.status}`)
    return zod.eventsListResponse.parse(answer.data).data
  }
  const page = await list({ 'created_at[gte]': event.created_at, limit: 10 })
  const later = await list({ 'created_at[gt]': event.created_at + hour })
  const dump = await configDump(workspace, { format: 'json' })
  if (dump.status !== 200 || typeof dump.data === 'string') throw new Error('the dump is no JSON')
  return {
    endpoint: endpoint.data.id,
    event: event.id,
    listed: page.map(({ id }) => id),
    later: later.length,
    dumped: given(dump.data.endpoints).map(({ name }) => name),
  }
}
