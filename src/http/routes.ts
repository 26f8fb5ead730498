import { neighbours } from '../core/cursor.ts'
import { sliceProperty } from '../core/json-slice.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'
import type { ConfigDocument } from '../schema/config.ts'
import type { EventInput, StoredEvent } from '../schema/event.ts'
import { JsonText } from '../schema/json-text.ts'
import { isPlainObject } from '../schema/fields.ts'
import { listParameters } from '../schema/page.ts'
import type { RotateInput } from '../schema/rotate-secret.ts'
import type { ShownAs } from '../schema/secrets.ts'
import type { PageOf, ReplayInput, Services } from '../services/services.ts'
import { version } from '../version.ts'
import { readFlag, readQuery } from './query.ts'
import { readJson, readText } from './read.ts'
import { json } from './respond.ts'

/** A request that was routed, placed in its workspace and authorized. */
export interface Call {
  readonly services: Services
  readonly request: Request
  readonly url: URL
  /** The id of the workspace that the path names; empty where it names none. */
  readonly workspace: string
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly maxBodyBytes: number
  /** The event types that the host declares. */
  readonly events: EventCatalogue
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Route {
  readonly method: Method
  /** Path parameters begin with a colon. */
  readonly path: string
  /** The name of the service function, as `authorize` hears it. */
  readonly operation: string
  /** Whether the path stands below `/workspaces/:ws_id`, and alone means the workspace `default`. */
  readonly scoped: boolean
  handle(call: Call): Promise<Response>
}

type Handle = Route['handle']

function route(scoped: boolean, method: Method, path: string, operation: string, handle: Handle): Route {
  return { method, path, operation, scoped, handle }
}

const resources = (['endpoints', 'sources', 'plugins'] as const).flatMap((noun) => [
  route(true, 'GET', `/${noun}`, `${noun}.list`, async ({ services, workspace, url }) =>
    pageOf<object>(url, await services[noun].list(workspace, readQuery(url.searchParams, listParameters[noun]))),
  ),
  route(true, 'POST', `/${noun}`, `${noun}.create`, async (call) => {
    const { value } = await readJson(call.request, call.maxBodyBytes)
    // The service is the gate that parses it.
    return json(201, await call.services[noun].create(call.workspace, value as never))
  }),
  route(true, 'GET', `/${noun}/:id`, `${noun}.get`, async ({ services, workspace, params }) =>
    json(200, await services[noun].get(workspace, idOf(params))),
  ),
  route(true, 'PUT', `/${noun}/:id`, `${noun}.update`, async (call) => {
    const id = idOf(call.params)
    await call.services[noun].get(call.workspace, id) // an unknown id is told before the body is looked at
    const { value } = await readJson(call.request, call.maxBodyBytes)
    return json(200, await call.services[noun].update(call.workspace, id, value as never))
  }),
  route(true, 'DELETE', `/${noun}/:id`, `${noun}.delete`, async ({ services, workspace, params }) => {
    await services[noun].delete(workspace, idOf(params))
    return new Response(null, { status: 204 })
  }),
])

const workspaces = [
  route(false, 'GET', '/workspaces', 'workspaces.list', async ({ services, url }) =>
    pageOf(url, await services.workspaces.list(readQuery(url.searchParams, listParameters.workspaces))),
  ),
  route(false, 'POST', '/workspaces', 'workspaces.create', async ({ services, request, maxBodyBytes }) => {
    const { value } = await readJson(request, maxBodyBytes)
    return json(201, await services.workspaces.create(value as never))
  }),
  route(false, 'GET', '/workspaces/:id', 'workspaces.get', async ({ services, params }) =>
    json(200, await services.workspaces.get(idOf(params))),
  ),
  route(false, 'PUT', '/workspaces/:id', 'workspaces.update', async ({ services, request, params, maxBodyBytes }) => {
    await services.workspaces.get(idOf(params))
    const { value } = await readJson(request, maxBodyBytes)
    return json(200, await services.workspaces.update(idOf(params), value as never))
  }),
  route(false, 'DELETE', '/workspaces/:id', 'workspaces.delete', async ({ services, params }) => {
    await services.workspaces.delete(idOf(params))
    return new Response(null, { status: 204 })
  }),
]

const deliveries = [
  route(true, 'POST', '/endpoints/:id/test', 'endpoints.test', async (call) => {
    const id = idOf(call.params)
    await call.services.endpoints.get(call.workspace, id)
    const { text, value } = await readJson(call.request, call.maxBodyBytes, { optional: true })
    return json(200, await call.services.endpoints.test(call.workspace, id, withAnyDataText(text, value) as object))
  }),
  route(true, 'GET', '/endpoints/:id/secret', 'endpoints.secret', async ({ services, workspace, params }) =>
    json(200, await services.endpoints.secret(workspace, idOf(params))),
  ),
  route(true, 'POST', '/endpoints/:id/secret/rotate', 'endpoints.rotateSecret', async (call) => {
    const id = idOf(call.params)
    await call.services.endpoints.get(call.workspace, id)
    const { value = {} } = await readJson(call.request, call.maxBodyBytes, { optional: true })
    return json(200, await call.services.endpoints.rotateSecret(call.workspace, id, value as RotateInput))
  }),
  route(true, 'GET', '/events', 'events.list', async ({ services, workspace, url }) =>
    pageOf(url, await services.events.list(workspace, readQuery(url.searchParams, listParameters.events)), eventJson),
  ),
  route(true, 'POST', '/events', 'events.create', async ({ services, workspace, request, maxBodyBytes }) => {
    const { text, value } = await readJson(request, maxBodyBytes)
    const { event, created } = await services.events.create(workspace, withDataText(text, value) as EventInput)
    return json(created ? 201 : 200, eventJson(event))
  }),
  route(
    true,
    'POST',
    '/events/replay',
    'events.replay',
    async ({ services, workspace, request, url, maxBodyBytes }) => {
      const { value } = await readJson(request, maxBodyBytes, { optional: true })
      const dryRun = readFlag(url.searchParams, 'dry_run')
      return json(200, await services.events.replay(workspace, value as ReplayInput, { dryRun }))
    },
  ),
  route(true, 'GET', '/events/:id', 'events.get', async ({ services, workspace, params }) =>
    json(200, eventJson(await services.events.get(workspace, idOf(params)))),
  ),
  route(true, 'POST', '/events/:id/retry', 'events.retry', async ({ services, workspace, params, url }) => {
    const endpointId = url.searchParams.get('endpoint_id') ?? ''
    return json(200, await services.events.retry(workspace, idOf(params), endpointId))
  }),
  route(true, 'GET', '/events/:id/explain', 'events.explain', async ({ services, workspace, params }) =>
    json(200, await services.events.explain(workspace, idOf(params))),
  ),
  route(true, 'GET', '/attempts', 'attempts.list', async ({ services, workspace, url }) =>
    pageOf(url, await services.attempts.list(workspace, readQuery(url.searchParams, listParameters.attempts))),
  ),
  route(true, 'GET', '/attempts/:id', 'attempts.get', async ({ services, workspace, params }) =>
    json(200, await services.attempts.get(workspace, idOf(params))),
  ),
]

const config = [
  route(true, 'POST', '/config/sync', 'config.sync', async ({ services, workspace, request, url, maxBodyBytes }) => {
    const { parseDocument } = await import('./configuration-document.ts')
    const text = await readText(request, maxBodyBytes)
    const document = await parseDocument(text, request.headers.get('content-type'))
    const dryRun = readFlag(url.searchParams, 'dry_run')
    return json(200, await services.config.sync(workspace, document as ConfigDocument, { dryRun }))
  }),
  route(true, 'POST', '/config/dump', 'config.dump', async ({ services, workspace, request, url }) => {
    const { writeJson, writeYaml } = await import('./configuration-document.ts')
    const secrets = (url.searchParams.get('secrets') ?? undefined) as ShownAs | undefined // the service checks it
    const document = await services.config.dump(workspace, { secrets })
    const accept = request.headers.get('accept') ?? ''
    if (accept.includes('application/json') && !accept.includes('text/')) return json(200, writeJson(document))
    return new Response(await writeYaml(document), { headers: { 'content-type': 'text/plain; charset=utf-8' } })
  }),
]

const about = [
  route(false, 'GET', '/', 'version', async () => json(200, { version, message: 'Welcome to Posthorn' })),
  route(false, 'GET', '/openapi.json', 'openapi', async ({ events }) => {
    const { openapi } = await import('./openapi.ts')
    return json(200, openapi(routes, events))
  }),
]

/** The whole administrative API. */
export const routes: readonly Route[] = [...about, ...workspaces, ...resources, ...deliveries, ...config]

function idOf(params: Call['params']): string {
  return params['id'] ?? '' // every path that asks has it
}

/** A body whose `data` is its very text, which JSON values would not keep. */
function withDataText(text: string, value: unknown): unknown {
  const data = isPlainObject(value) && isPlainObject(value['data']) ? sliceProperty(text, 'data') : null
  return data === null ? value : { ...(value as object), data: new JsonText(data) }
}

/** The same where `data` may be any JSON value. */
function withAnyDataText(text: string, value: unknown): unknown {
  const data = isPlainObject(value) && Object.hasOwn(value, 'data') ? sliceProperty(text, 'data') : null
  return data === null ? value : { ...(value as object), data: new JsonText(data) }
}

/** An event whose data stands in it as it was received. */
function eventJson({ id, event_type, data, ...rest }: StoredEvent): string {
  const head = JSON.stringify({ id, event_type })
  return `${head.slice(0, -1)},"data":${data},${JSON.stringify(rest).slice(1)}`
}

/** A page, in cursor mode with the addresses beside it as the client may follow them. */
function pageOf<Row extends { readonly id: string } | object>(
  url: URL,
  page: PageOf<Row>,
  rowJson: (row: Row) => string = JSON.stringify,
): Response {
  const data = `[${page.data.map(rowJson).join(',')}]`
  if ('total' in page) return json(200, `{"total":${page.total},"data":${data}}`)
  const { next, prev } = neighbours(url.pathname, url.searchParams, {
    first: idAt(page.data, 0),
    last: idAt(page.data, -1),
    preceded: page.prev !== null,
    followed: page.next !== null,
  })
  return json(200, `{"data":${data},"next":${JSON.stringify(next)},"prev":${JSON.stringify(prev)}}`)
}

function idAt(rows: readonly object[], position: number): string | undefined {
  return (rows.at(position) as { readonly id: string } | undefined)?.id // every row has one
}
