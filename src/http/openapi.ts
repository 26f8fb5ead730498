import type { OpenApiOptions } from '../options.ts'
import { listParameters, type Parameters } from '../schema/page.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'
import type { Json } from './openapi-inputs.ts'
import { dryRun, dumpFormat, listQuery, pathParameter, retriedEndpoint } from './openapi-parameters.ts'
import { componentSchemas, dataSchema } from './openapi-schemas.ts'
import { operationTexts, tagTexts } from './openapi-texts.ts'
import type { Route } from './routes.ts'

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

/** What the routes do, by operation. Every route has an entry here. */
const descriptions: Readonly<Record<string, Description>> = {
  version: { summary: 'Name the version', answer: 'Version' },
  openapi: { summary: 'Describe this API', answer: { type: 'object', additionalProperties: true } },
  ...crud('workspaces', 'Workspace', listParameters.workspaces),
  ...crud('endpoints', 'Endpoint', listParameters.endpoints),
  ...crud('sources', 'Source', listParameters.sources),
  ...crud('plugins', 'Plugin', listParameters.plugins),
  'endpoints.test': { summary: 'Make one sample delivery now', body: 'TestInput', answer: 'Attempt' },
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
    query: [retriedEndpoint],
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
    query: [dumpFormat],
  },
}

/** What the host says of the API, beside its routes. */
export interface About {
  readonly events?: EventCatalogue
  /** The path prefix of the API. */
  readonly basePath?: string
  readonly publicUrl?: string | undefined
  readonly openapi?: OpenApiOptions | undefined
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
    servers: [{ url: serverUrl(place) }],
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

/** Where clients find the API: `publicUrl` with its path, or with the prefix of the mount where it has no path. */
function serverUrl({ basePath = '', publicUrl }: Pick<About, 'basePath' | 'publicUrl'>): string {
  if (publicUrl === undefined) return basePath === '' ? '/' : basePath
  const { origin, pathname } = new URL(publicUrl)
  return pathname === '/' ? `${origin}${basePath}` : `${origin}${pathname.replace(/\/$/, '')}`
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
      description: 'What an endpoint without plugins receives.',
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
    description: operationTexts[route.operation],
    tags: [tagOf(route)],
    parameters: [...places, ...(Array.isArray(asked) ? asked : listQuery(asked as Parameters))],
    ...(body !== undefined && {
      requestBody: { required: !optionalBodies.has(body), content: bodyContent(body) },
    }),
    responses: {
      ...Object.fromEntries(status.map((code) => [code, answer(description, code)])),
      ...Object.fromEntries(errorsOf(route, body).map((code) => [code, ref('responses', `Error${code}`)])),
    },
  }
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

function answer({ answer: of, list }: Description, code: string): Json {
  if (of === undefined || code === '204') return { description: 'Done.' }
  const schema = typeof of === 'string' ? ref('schemas', list ? `${of}Page` : of) : of
  const json = { 'application/json': { schema } }
  if (of !== 'ConfigDocument') return { description: 'OK', content: json }
  const yaml = { schema: { type: 'string', description: 'The document as YAML 1.2.' } }
  return { description: 'OK', content: { ...json, 'text/plain': yaml } }
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
    content: content(ref('schemas', 'Refusal')),
  },
  Error403: { description: 'The host or the browser rules forbid it.', content: content(ref('schemas', 'Refusal')) },
  Error404: { description: 'There is no such thing.', content: content(ref('schemas', 'Refusal')) },
  Error413: { description: 'The body is too large.', content: content(ref('schemas', 'Refusal')) },
  Error500: { description: 'Something unexpected; the log tells.', content: content(ref('schemas', 'Refusal')) },
  Error503: {
    description: 'The storage does not answer, or too much waits.',
    headers: {
      'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0, maximum: 86_400 } },
    },
    content: content(ref('schemas', 'Refusal')),
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
