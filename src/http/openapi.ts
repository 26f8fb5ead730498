import { listParameters, type Parameters } from '../schema/page.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'
import { shownAs } from '../schema/secrets.ts'
import { componentSchemas, dataSchema, leafSchema } from './openapi-schemas.ts'
import type { Route } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

interface Description {
  readonly summary: string
  /** Components that the body and the answer are made of. */
  readonly body?: string
  readonly answer?: string | Json
  readonly status?: readonly string[]
  readonly query?: Parameters | readonly Json[]
  /** Whether a list of the answer is what comes back. */
  readonly list?: true
}

const dryRun = query('dry_run', { type: 'boolean', default: false }, 'Whether to answer without writing anything.')

type Lists = typeof listParameters
type ParameterName = { [Noun in keyof Lists]: keyof Lists[Noun] }[keyof Lists]

const moment = 'unix milliseconds: one moment, or bounds.'
const parameterTexts: Readonly<Record<ParameterName, string>> = {
  page_no: 'Page number.',
  page_size: 'Rows of a page, 20 unless told.',
  limit: 'Most rows answered, 20 unless told.',
  sort: 'Order, id.desc unless told.',
  after: 'Rows strictly beyond this id in the direction of the sort.',
  before: 'Rows strictly before this id in the direction of the sort.',
  name: 'Exactly this name.',
  enabled: 'Only enabled rows, or only disabled ones.',
  created_at: `Creation, ${moment}`,
  ingested_at: `Acceptance, ${moment}`,
  attempted_at: `When it was sent, ${moment}`,
  metadata: 'Rows whose metadata holds every pair.',
  endpoint_id: 'Rows of this endpoint.',
  source_id: 'Rows of this source.',
  event_id: 'Attempts of this event.',
  event_type: 'Exactly this type.',
  unique_id: 'The event with this unique_id.',
  status: 'Attempts in this status.',
}

/** What the routes do, by operation. Every route has an entry here. */
const descriptions: Readonly<Record<string, Description>> = {
  version: { summary: 'Name the version', answer: 'Version' },
  openapi: { summary: 'Describe this API', answer: { type: 'object' } },
  ...crud('workspaces', 'Workspace', listParameters.workspaces),
  ...crud('endpoints', 'Endpoint', listParameters.endpoints),
  ...crud('sources', 'Source', listParameters.sources),
  ...crud('plugins', 'Plugin', listParameters.plugins),
  'endpoints.test': { summary: 'Make one sample delivery now', body: 'TestInput', answer: 'Attempt' },
  'endpoints.secret': { summary: 'Show the secret that signs deliveries, in clear', answer: 'EndpointSecret' },
  'endpoints.rotateSecret': {
    summary: 'Replace the secret that signs deliveries; old ones sign beside it until the overlap ends',
    body: 'RotateInput',
    answer: 'EndpointSecret',
  },
  'events.list': { summary: 'List events', answer: 'Event', list: true, query: listParameters.events },
  'events.create': {
    summary: 'Publish an event; 200 with the stored one when its unique_id was seen before',
    body: 'EventInput',
    answer: 'Event',
    status: ['201', '200'],
  },
  'events.replay': {
    summary: 'Send failed or canceled deliveries once more',
    body: 'ReplayInput',
    answer: 'ReplayReport',
    query: [dryRun],
  },
  'events.get': { summary: 'Retrieve an event', answer: 'Event' },
  'events.retry': {
    summary: 'Send an event to an endpoint once more',
    answer: 'Attempt',
    query: [{ ...query('endpoint_id', { type: 'string' }, 'Where it is sent.'), required: true }],
  },
  'events.explain': {
    summary: 'Tell which endpoints an event went to, and why',
    answer: { type: 'array', items: ref('schemas', 'Explanation') },
  },
  'attempts.list': { summary: 'List attempts', answer: 'Attempt', list: true, query: listParameters.attempts },
  'attempts.get': { summary: 'Retrieve an attempt with its headers and bodies', answer: 'Attempt' },
  'config.sync': {
    summary: 'Make the workspace what a document says',
    body: 'ConfigDocument',
    answer: 'SyncReport',
    query: [dryRun],
  },
  'config.dump': {
    summary: 'Dump the configuration as a document',
    answer: 'ConfigDocument',
    query: [
      query(
        'secrets',
        { enum: shownAs },
        'How secrets are shown. Default: masked where they are sealed at rest, else clear.',
      ),
    ],
  },
}

/** This API as an OpenAPI 3.1 document, made from the routes that serve it and the schemas that validate it. */
export function openapi(routes: readonly Route[], events: EventCatalogue = {}): Json {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = fullPath(route)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, path) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn administrative API',
      version: '1.1.0',
      description:
        'Manages workspaces, endpoints, sources, plugins, events and attempts. Every path below `/workspaces/{ws_id}` is also served without that prefix, for the workspace `default`.',
    },
    servers: [{ url: '/' }],
    security: [],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    ...(Object.keys(events).length > 0 && { webhooks: webhooksOf(events) }),
    components: { schemas: componentSchemas(), responses: errorResponses },
  }
}

/** The events of the host's catalogue, as an endpoint without plugins receives them. */
function webhooksOf(events: EventCatalogue): Json {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })
  const webhook = (type: string): Json => ({
    post: {
      operationId: `webhook ${type}`,
      summary: `Event ${type}`,
      parameters: [
        header('webhook-id', 'Id of the event, the same on every try.'),
        header('webhook-event-type', 'Type of the event.'),
        header('webhook-delivery-id', 'Id of the attempt.'),
        header('webhook-attempt', 'Number of the try, from 1.'),
      ],
      requestBody: { required: true, content: content(dataSchema(events[type]!)) },
      responses: { '2XX': { description: 'Received. Anything else is tried again.' } },
    },
  })
  return Object.fromEntries(Object.keys(events).map((type) => [type, webhook(type)]))
}

function operation(route: Route, path: string): Json {
  const description = descriptions[route.operation]
  if (description === undefined) throw new Error(`no description of ${route.operation}`)
  const { summary, body, query: asked = [], status = [route.method === 'DELETE' ? '204' : '200'] } = description
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name!))
  return {
    operationId: route.operation,
    summary,
    tags: [tagOf(route)],
    parameters: [...places, ...(Array.isArray(asked) ? asked : queryParameters(asked as Parameters))],
    ...(body !== undefined && {
      requestBody: { required: !optionalBodies.has(body), content: bodyContent(body) },
    }),
    responses: {
      ...Object.fromEntries(status.map((code) => [code, answer(description, code)])),
      ...Object.fromEntries(errorsOf(route, body).map((code) => [code, ref('responses', `Error${code}`)])),
    },
  }
}

const optionalBodies = new Set(['TestInput', 'ReplayInput', 'RotateInput'])

function bodyContent(name: string): Json {
  const json = { schema: ref('schemas', name) }
  if (name !== 'ConfigDocument') return { 'application/json': json }
  return {
    'application/json': json,
    'text/plain': { schema: { type: 'string', description: 'The document as YAML 1.2.' } },
  }
}

function answer({ answer: of, list }: Description, code: string): Json {
  if (of === undefined || code === '204') return { description: 'Done.' }
  const one = typeof of === 'string' ? ref('schemas', of) : of
  const schema = list ? { oneOf: [offsetPage(one), cursorPage(one)] } : one
  const json = { 'application/json': { schema } }
  if (of !== 'ConfigDocument') return { description: 'OK', content: json }
  return { description: 'OK', content: { 'text/plain': { schema: { type: 'string' } }, ...json } }
}

function errorsOf({ operation: name, scoped, method, path }: Route, body: string | undefined): string[] {
  const about = name === 'version' || name === 'openapi'
  return [
    ...(scoped || method !== 'GET' || name.endsWith('.list') ? ['400'] : []),
    '403',
    ...(path.includes(':id') && method !== 'DELETE' ? ['404'] : []),
    ...(body === undefined ? [] : ['413']),
    '500',
    ...(about ? [] : ['503']),
  ]
}

const errorResponses: Json = {
  Error400: {
    description: 'The request is at fault.',
    content: content({ oneOf: [ref('schemas', 'ValidationError'), ref('schemas', 'Message')] }),
  },
  Error403: { description: 'The host or the browser rules forbid it.', content: content(ref('schemas', 'Message')) },
  Error404: { description: 'There is no such thing.', content: content(ref('schemas', 'Message')) },
  Error413: { description: 'The body is too large.', content: content(ref('schemas', 'Message')) },
  Error500: { description: 'Something unexpected; the log tells.', content: content(ref('schemas', 'Message')) },
  Error503: {
    description: 'The storage does not answer, or too much waits.',
    headers: { 'Retry-After': { schema: { type: 'integer' } } },
    content: content(ref('schemas', 'Message')),
  },
}

function crud(nouns: string, noun: string, parameters: Parameters): Record<string, Description> {
  const body = `${noun}Input`
  return {
    [`${nouns}.list`]: { summary: `List ${nouns}`, answer: noun, list: true, query: parameters },
    [`${nouns}.create`]: { summary: `Create one of the ${nouns}`, body, answer: noun, status: ['201'] },
    [`${nouns}.get`]: { summary: `Retrieve one of the ${nouns}`, answer: noun },
    [`${nouns}.update`]: {
      summary: `Update one of the ${nouns}: absent keys stay`,
      body: `${noun}Update`,
      answer: noun,
    },
    [`${nouns}.delete`]: { summary: `Delete one of the ${nouns}, known or not` },
  }
}

function queryParameters(parameters: Parameters): Json[] {
  return Object.entries(parameters).map(([name, { kind, schema, deprecated }]) => {
    const description = parameterTexts[name as ParameterName] // those of lists are all there are
    const described = { name, in: 'query', required: false, description, ...(deprecated && { deprecated }) }
    if (kind === 'pairs') {
      const pairs = { type: 'object', additionalProperties: { type: 'string', minLength: 1 } }
      return { ...described, style: 'deepObject', explode: true, schema: pairs }
    }
    if (kind !== 'time') return { ...described, schema: leafSchema(schema) }
    const moment = { type: 'integer', format: 'int64' }
    const bounds = {
      type: 'object',
      properties: { gt: moment, gte: moment, lt: moment, lte: moment },
      additionalProperties: false,
    }
    return { ...described, style: 'deepObject', explode: true, schema: { oneOf: [moment, bounds] } }
  })
}

function pathParameter(name: string): Json {
  const description = name === 'ws_id' ? 'Id or name of the workspace.' : 'Id of the resource.'
  return { name, in: 'path', required: true, description, schema: { type: 'string', minLength: 1 } }
}

function query(name: string, schema: Json, description: string): Json {
  return { name, in: 'query', required: false, description, schema }
}

function offsetPage(row: Json): Json {
  const properties = { total: { type: 'integer', minimum: 0 }, data: { type: 'array', items: row } }
  return { type: 'object', properties, required: ['total', 'data'] }
}

function cursorPage(row: Json): Json {
  const uri = { type: ['string', 'null'], description: 'Path and query of the page beside this one.' }
  const properties = { data: { type: 'array', items: row }, next: uri, prev: uri }
  return { type: 'object', properties, required: ['data', 'next', 'prev'] }
}

function content(schema: Json): Json {
  return { 'application/json': { schema } }
}

function ref(section: 'schemas' | 'responses', name: string): Json {
  return { $ref: `#/components/${section}/${name}` }
}

function fullPath({ scoped, path }: Route): string {
  return `${scoped ? '/workspaces/:ws_id' : ''}${path}`.replace(/:(\w+)/g, '{$1}')
}

function tagOf({ operation: name }: Route): string {
  return name.includes('.') ? name.slice(0, name.indexOf('.')) : 'about'
}
