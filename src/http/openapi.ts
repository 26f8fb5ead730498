import type { Operation, OperationName } from '../operations/operation.ts'
import { summaries } from '../operations/summaries.ts'
import { operations } from '../operations/table.ts'
import { listParameters, type Parameters } from '../schema/page.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'
import { componentSchemas, dataSchema, fieldSchema } from './openapi-schemas.ts'
import type { Route } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

/** What the operations and the two routes beside them say of themselves. */
interface Description {
  readonly summary: string
  readonly operation: Pick<Operation, 'input' | 'answers' | 'list' | 'query' | 'options'>
}

const about: Readonly<Record<string, Description>> = {
  version: { summary: 'Name the version', operation: { answers: { 200: 'Version' } } },
  openapi: { summary: 'Describe this API', operation: { answers: { 200: null } } },
}

function describe(name: string): Description {
  return about[name] ?? { summary: summaries[name as OperationName], operation: operations[name as OperationName] }
}

/** Query parameters of operations that are no lists. */
const queryTexts: Readonly<Record<string, Json>> = {
  endpoint_id: { ...query('endpoint_id', { type: 'string' }, 'Where it is sent.'), required: true },
  dry_run: query('dry_run', { type: 'boolean', default: false }, 'Whether to answer without writing anything.'),
}

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
  const { summary, operation: described } = describe(route.operation)
  const { input, answers } = described
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name!))
  return {
    operationId: route.operation,
    summary,
    tags: [tagOf(route)],
    parameters: [...places, ...parametersOf(route, described)],
    ...(input !== undefined && {
      requestBody: { required: !optionalBodies.has(input), content: bodyContent(input) },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([code, schema]) => [code, answer(schema, code, described.list === true)]),
      ),
      ...Object.fromEntries(errorsOf(route, input).map((code) => [code, ref('responses', `Error${code}`)])),
    },
  }
}

function parametersOf(route: Route, { list, query: asked = [], options = [] }: Description['operation']): Json[] {
  if (list) return queryParameters(listParameters[tagOf(route) as keyof Lists]) // lists are those of page.ts
  return [...asked, ...options].map((name) => queryTexts[name]!) // a test asks for every document of an operation
}

const optionalBodies = new Set(['TestInput', 'ReplayInput'])

function bodyContent(name: string): Json {
  const json = { schema: ref('schemas', name) }
  if (name !== 'ConfigDocument') return { 'application/json': json }
  return {
    'application/json': json,
    'text/plain': { schema: { type: 'string', description: 'The document as YAML 1.2.' } },
  }
}

function answer(of: string | null, code: string, isPage: boolean): Json {
  if (code === '204') return { description: 'Done.' }
  const row = schemaOf(of)
  const schema = isPage ? { oneOf: [offsetPage(row), cursorPage(row)] } : row
  const json = { 'application/json': { schema } }
  if (of !== 'ConfigDocument') return { description: 'OK', content: json }
  return { description: 'OK', content: { 'text/plain': { schema: { type: 'string' } }, ...json } }
}

/** `Explanation[]` is a list of explanations. */
function schemaOf(name: string | null): Json {
  if (name === null) return { type: 'object' }
  return name.endsWith('[]') ? { type: 'array', items: ref('schemas', name.slice(0, -2)) } : ref('schemas', name)
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

function queryParameters(parameters: Parameters): Json[] {
  return Object.entries(parameters).map(([name, { kind, schema, deprecated }]) => {
    const description = parameterTexts[name as ParameterName] // those of lists are all there are
    const described = { name, in: 'query', required: false, description, ...(deprecated && { deprecated }) }
    if (kind === 'pairs') {
      const pairs = { type: 'object', additionalProperties: { type: 'string', minLength: 1 } }
      return { ...described, style: 'deepObject', explode: true, schema: pairs }
    }
    if (kind !== 'time') return { ...described, schema: fieldSchema(schema) }
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
