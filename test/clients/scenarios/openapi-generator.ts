import { Configuration, ConfigApi, EndpointsApi, EventsApi } from '../made/openapi_generator_typescript'
import { given, hook, hour, type Seen } from './seen'

export async function run(url: string, workspace: string): Promise<Seen> {
  const configuration = new Configuration({ basePath: url })
  const wsId = workspace
  const endpointInput = { name: workspace, events: ['invoice.*'], request: { url: hook } }
  const endpoint = await new EndpointsApi(configuration).endpointsCreate({ wsId, endpointInput })
  const events = new EventsApi(configuration)
  const eventInput = { eventType: 'invoice.paid', data: { amount: 4200 } }
  const event = await events.eventsCreate({ wsId, eventInput })
  const page = await events.eventsList({ wsId, createdAtGte: event.createdAt, limit: 10 })
  const later = await events.eventsList({ wsId, createdAtGt: event.createdAt + hour })
  const dump = await new ConfigApi(configuration).configDump({ wsId, format: 'json' })
  return {
    endpoint: endpoint.id,
    event: event.id,
    listed: page.data.map(({ id }) => id),
    later: later.data.length,
    dumped: given(dump.endpoints).map(({ name }) => name),
  }
}
