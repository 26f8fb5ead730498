import type { Json } from '../../http/openapi-inputs.ts'
import { openapi } from '../../http/openapi.ts'
import { version } from '../../version.ts'
import { offered } from './offered.ts'

type Properties = Readonly<Record<string, Json>>

const text = (description: string): Json => ({ type: 'string', description })
const flag = (description: string): Json => ({ type: 'boolean', description })
const moment = (description: string): Json => ({ type: 'integer', format: 'int64', description })
const orNull = ({ type, ...rest }: Json): Json => ({ ...rest, type: [type, 'null'] })
const headers: Json = {
  type: ['object', 'null'],
  additionalProperties: { type: 'string' },
  description: 'Headers that deliveries carry.',
}
const events: Json = {
  type: 'array',
  items: { type: 'string' },
  description: 'Event types or patterns such as `invoice.*`.',
}

const writable: Properties = {
  url: text('Where deliveries are sent.'),
  description: orNull(text('What the endpoint is for.')),
  events,
  headers,
  enabled: flag('Whether deliveries are made.'),
}

const schemas: Properties = {
  EndpointInput: { type: 'object', properties: writable, required: ['url'] },
  EndpointPatch: { type: 'object', properties: writable },
  Endpoint: object({
    id: text('Id of the endpoint.'),
    ...writable,
    paused: flag('Whether deliveries wait.'),
    disabled_at: orNull(moment('Since when the endpoint is off, unix milliseconds.')),
    disabled_reason: orNull(text('`manual`, `gone`, `breaker` or `failing`.')),
    disabled_detail: orNull(text('The reason as a sentence.')),
    created_at: moment('When the endpoint was made, unix milliseconds.'),
    updated_at: moment('When the endpoint last changed, unix milliseconds.'),
  }),
  Session: object({
    read_only: flag('Whether the session may only look.'),
    expires_at: moment('When the session ends, unix milliseconds.'),
    workspace: object({ name: orNull(text('Name of the workspace.')) }),
    allow: { type: 'object', additionalProperties: { type: 'boolean' }, description: 'What the session may do.' },
    limits: object({
      endpoints: orNull({ type: 'integer', description: 'The most endpoints; null: the host says none.' }),
    }),
    return_url: orNull(text('Where the page leads back to.')),
  }),
}

function object(properties: Properties): Json {
  return { type: 'object', properties, required: Object.keys(properties) }
}

/** The portal's API as an OpenAPI 3.1 document. */
export function portalDocument(basePath: string): Json {
  const routes = offered.map(({ route }) => ({ ...route, scoped: false }))
  const document = openapi(routes, { basePath, openapi: about }) as {
    readonly paths: Properties
    readonly components: { readonly schemas: Properties }
  } & Json
  const all = { ...document.components.schemas, ...schemas }
  const paths = { '/session': { get: session }, ...document.paths }
  const used = referenced({ paths }, all)
  const components = {
    ...document.components,
    schemas: Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name))),
  }
  return { ...document, paths, components }
}

const about = {
  info: {
    title: 'Webhook portal',
    version,
    description: 'What a customer sees and does in one workspace, which the token names.',
  },
  security: [{ session: [] }],
  securitySchemes: { session: { type: 'http', scheme: 'bearer', description: 'The token of a session.' } },
}

const session: Json = {
  operationId: 'session.get',
  summary: 'Describe the session',
  description: 'Tells what the token opens.',
  responses: {
    200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/components/schemas/Session' } } } },
    403: { $ref: '#/components/responses/Error403' },
  },
}

/** The names of the schemas that a part of the document leads to. */
function referenced(part: unknown, schemas: Properties, seen = new Set<string>()): ReadonlySet<string> {
  const responses = JSON.stringify(part).includes('#/components/responses/') ? ['Refusal'] : []
  const direct = [...JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!)
  for (const name of [...direct, ...responses]) {
    if (seen.has(name) || schemas[name] === undefined) continue
    seen.add(name)
    referenced(schemas[name], schemas, seen)
  }
  return seen
}
