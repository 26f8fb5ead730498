import { serverUrl } from '../core/server-url.ts'
import type { Operation, OperationName } from '../operations/operation.ts'
import { summaries } from '../operations/summaries.ts'
import { operations } from '../operations/table.ts'
import { listParameters, statsParameters } from '../schema/page.ts'
import { dataSchema } from '../core/data-schema.ts'
import type { EventEntry } from '../schema/catalogue.ts'
import type { About } from './about.ts'
import type { Json } from './openapi-inputs.ts'
import {
  dryRun,
  dumpFormat,
  explainedAfter,
  explainedLimit,
  idempotencyKey,
  listQuery,
  pathParameter,
  retriedEndpoint,
  shownSecrets,
  withHidden,
} from './openapi-parameters.ts'
import { componentSchemas } from './openapi-schemas.ts'
import { operationTexts, tagTexts } from './openapi-texts.ts'
import type { Route } from './route.ts'
import { takesKey } from './takes-idempotency-key.ts'

/** What the operations and the two routes beside them say of themselves. */
interface Description {
  readonly summary: string
  readonly operation: Pick<Operation, 'input' | 'answers' | 'list' | 'asks' | 'query' | 'options' | 'texts'>
}

const ofTheApi: Readonly<Record<string, Description>> = {
  version: { summary: 'Name the version', operation: { answers: { 200: 'Version' } } },
  openapi: { summary: 'Describe this API', operation: { answers: { 200: null } } },
}

function describe(name: string): Description {
  return ofTheApi[name] ?? { summary: summaries[name as OperationName], operation: operations[name as OperationName] }
}

/** Query parameters of operations that are no lists. */
const queryTexts: Readonly<Record<string, Json>> = {
  endpoint_id: retriedEndpoint,
  dry_run: dryRun,
  secrets: shownSecrets,
  hidden: withHidden,
  limit: explainedLimit,
  after: explainedAfter,
}

/** This API as an OpenAPI 3.1 document, made from the routes that serve it and the schemas that validate it. */
export function openapi(routes: readonly Route[], { events = {}, openapi: given = {}, ...place }: About = {}): Json {
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
      ...given.info,
    },
    servers: [{ url: serverUrl(place) || '/' }],
    security: given.security ?? [],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name, description: tagTexts[name] })),
    paths,
    ...(Object.keys(events).length > 0 && { webhooks: webhooksOf(events) }),
    components: {
      schemas: componentSchemas(),
      responses: errorResponses,
      ...(given.securitySchemes && { securitySchemes: given.securitySchemes }),
    },
  }
}

/** The events of the host's catalogue, as an endpoint without plugins receives them. */
function webhooksOf(events: Readonly<Record<string, EventEntry>>): Json {
  const shown = Object.entries(events).filter(([, { hidden = false }]) => !hidden)
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })
  const webhook = (type: string, { schema, description, deprecated = false }: EventEntry): Json => ({
    post: {
      operationId: `webhook ${type}`,
      summary: `Event ${type}`,
      description: description ?? 'What an endpoint without plugins receives.',
      ...(deprecated && { deprecated }),
      parameters: [
        header('webhook-id', 'Id of the event, the same on every try.'),
        header('webhook-event-type', 'Type of the event.'),
        header('webhook-delivery-id', 'Id of the attempt.'),
        header('webhook-attempt', 'Number of the try, from 1.'),
      ],
      requestBody: {
        required: true,
        content: content(
          dataSchema(schema) ?? { description: `As the schema made with ${schema['~standard'].vendor} says.` },
        ),
      },
      responses: { '2XX': { description: 'Received. Anything else is tried again.' } },
    },
  })
  return Object.fromEntries(shown.map(([type, entry]) => [type, webhook(type, entry)]))
}

function operation(route: Route, path: string): Json {
  const { summary, operation: described } = describe(route.operation)
  const { input, answers } = described
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name!))
  return {
    operationId: route.operation,
    summary,
    description: operationTexts[route.operation],
    tags: [tagOf(route)],
    parameters: [...places, ...parametersOf(route, described), ...(hasKey(route) ? [idempotencyKey] : [])],
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

function hasKey({ method, operation: name }: Route): boolean {
  return method === 'POST' && takesKey(operations[name as OperationName]) // the routes about the API are GETs
}

function parametersOf(
  route: Route,
  { list, asks, query: asked = [], options = [], texts = [] }: Description['operation'],
): Json[] {
  if (list) return listQuery(listParameters[tagOf(route) as keyof typeof listParameters]) // lists are those of page.ts
  if (asks) return listQuery(statsParameters[asks])
  if (route.operation === 'config.dump') return [dumpFormat, shownSecrets]
  return [...asked, ...options, ...texts].map((name) => queryTexts[name]!) // a test asks for every document of an operation
}

const optionalBodies = new Set(['TestInput', 'ReplayInput', 'RotateInput'])

function bodyContent(name: string): Json {
  const json = { schema: ref('schemas', name) }
  if (name.endsWith('Patch')) return { 'application/merge-patch+json': json, 'application/json': json }
  if (name !== 'ConfigDocument') return { 'application/json': json }
  return {
    'application/json': json,
    'text/plain': { schema: { type: 'string', description: 'The document as YAML 1.2.' } },
  }
}

function answer(of: string | null, code: string, isPage: boolean): Json {
  if (code === '204') return { description: 'Done.' }
  const schema = isPage ? ref('schemas', `${of}Page`) : schemaOf(of)
  const json = { 'application/json': { schema } }
  if (of !== 'ConfigDocument') return { description: 'OK', content: json }
  const yaml = { schema: { type: 'string', description: 'The document as YAML 1.2.' } }
  return { description: 'OK', content: { ...json, 'text/plain': yaml } }
}

/** `Explanation[]` is a list of explanations. */
function schemaOf(name: string | null): Json {
  if (name === null) return { type: 'object', additionalProperties: true }
  return name.endsWith('[]') ? { type: 'array', items: ref('schemas', name.slice(0, -2)) } : ref('schemas', name)
}

function errorsOf(route: Route, body: string | undefined): string[] {
  const { operation: name, scoped, method, path } = route
  const isAbout = name === 'version' || name === 'openapi'
  return [
    ...(scoped || method !== 'GET' || name.endsWith('.list') || name === 'instance.stats' ? ['400'] : []),
    '403',
    ...(/:\w*id/.test(path) && method !== 'DELETE' ? ['404'] : []),
    ...(hasKey(route) ? ['409'] : []),
    ...(body === undefined && !hasKey(route) ? [] : ['413']),
    ...(hasKey(route) ? ['422'] : []),
    ...(name === 'events.create' ? ['429'] : []),
    '500',
    ...(isAbout ? [] : ['503']),
  ]
}

const errorResponses: Json = {
  Error400: {
    description: 'The request is at fault.',
    content: content(ref('schemas', 'Refusal')),
  },
  Error403: { description: 'The host or the browser rules forbid it.', content: content(ref('schemas', 'Refusal')) },
  Error404: { description: 'There is no such thing.', content: content(ref('schemas', 'Refusal')) },
  Error409: {
    description: 'A request with this `Idempotency-Key` is in flight.',
    headers: {
      'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0, maximum: 86_400 } },
    },
    content: content(ref('schemas', 'Refusal')),
  },
  Error413: { description: 'The body is too large.', content: content(ref('schemas', 'Refusal')) },
  Error422: {
    description: 'The `Idempotency-Key` was used with another request.',
    content: content(ref('schemas', 'Refusal')),
  },
  Error429: {
    description: 'More events than the limit of the workspace lets pass.',
    headers: {
      'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0, maximum: 86_400 } },
    },
    content: content(ref('schemas', 'Refusal')),
  },
  Error500: { description: 'Something unexpected; the log tells.', content: content(ref('schemas', 'Refusal')) },
  Error503: {
    description: 'The storage does not answer, or too much waits.',
    headers: {
      'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0, maximum: 86_400 } },
    },
    content: content(ref('schemas', 'Refusal')),
  },
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
