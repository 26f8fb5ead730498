import { Validator } from '@seriousme/openapi-schema-validator'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import type { About } from '../../src/http/about.ts'
import { openapi } from '../../src/http/openapi.ts'
import { routes } from '../../src/http/routes.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { api, url } from './api.ts'

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { name: string; in: string; deprecated?: boolean }[]
  readonly requestBody?: { readonly content: Record<string, { schema: { $ref?: string } }> }
  readonly responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>
}
interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, { examples?: readonly unknown[] }> }
}

// What is served is JSON, and this is its shape.
const document = JSON.parse(JSON.stringify(openapi(routes))) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
)

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate({ ...document })
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
  expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.1.0'])
})

test('it is served as it is made', async () => {
  const { call } = api()
  expect((await call('GET', '/openapi.json')).body).toEqual(document)
})

test('every route is in it once, with its path parameters', () => {
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    routes.map(({ operation }) => operation).toSorted(),
  )
  for (const { path, parameters } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(named)
  }
})

test('lists tell every parameter, a filter of time as plain ones, and which are deprecated', () => {
  const list = operations.find(({ operationId }) => operationId === 'endpoints.list')!
  const time = ['created_at', ...['gt', 'gte', 'lt', 'lte'].map((bound) => `created_at[${bound}]`)]
  expect(list.parameters.map(({ name }) => name)).toEqual([
    ...'ws_id page_no page_size limit sort after before name enabled'.split(' '),
    ...time,
    'metadata',
  ])
  expect(list.parameters.filter(({ deprecated }) => deprecated).map(({ name }) => name)).toEqual([
    'page_no',
    'page_size',
  ])
  expect(list.parameters).toContainEqual(
    expect.objectContaining({ name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 1000 } }),
  )
  for (const name of time) {
    const bounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    const schema = { type: 'integer', format: 'int64', ...(!name.includes('[') && bounds) }
    expect(list.parameters).toContainEqual(expect.objectContaining({ name, required: false, schema }))
  }
})

test('bounds are those that validate, and a default stands in the description', () => {
  expect(document.components.schemas['EndpointInput']).toMatchObject({
    required: ['request'],
    properties: {
      id: { pattern: '^[A-Za-z0-9_:-]{1,64}$' },
      name: { type: ['string', 'null'], maxLength: 512 },
      request: {
        required: ['url'],
        properties: {
          url: { type: 'string', minLength: 1, maxLength: 8192, pattern: expect.stringContaining('://') },
          method: {
            enum: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', null],
            description: expect.stringContaining('"POST"'),
          },
          timeout: {
            type: ['integer', 'null'],
            minimum: 0,
            maximum: 60_000,
            description: expect.stringMatching(/milliseconds.* Default `10000`/),
          },
        },
      },
    },
  })
  expect(document.components.schemas['EndpointUpdate']).not.toHaveProperty('required')
  expect(document.components.schemas['Endpoint']).toMatchObject({
    required: [
      ...'id name description enabled request retry events metadata rate_limit created_at updated_at'.split(' '),
      ...'disabled_at disabled_reason disabled_detail paused'.split(' '),
    ],
    properties: { enabled: { type: 'boolean' }, rate_limit: { type: ['object', 'null'] } },
  })
})

describe('what client generators stumble over is not in it', () => {
  type Node = Readonly<Record<string, unknown>>
  const nodes: { place: string; node: Node; schema: boolean }[] = []
  const schemaPlaces =
    /\/(schema|items|additionalProperties|propertyNames|properties\/[^/]+|(any|all|one)Of\/\d+|schemas\/\w+)$/
  function walk(node: unknown, place: string): void {
    if (typeof node !== 'object' || node === null || /\/examples?$/.test(place)) return
    if (!Array.isArray(node)) nodes.push({ place, node: node as Node, schema: schemaPlaces.test(place) })
    for (const [key, value] of Object.entries(node)) walk(value, `${place}/${key}`)
  }
  const catalogue = { 'invoice.paid': { schema: v.object({ amount: v.number() }) } }
  walk(JSON.parse(JSON.stringify(openapi(routes, { events: catalogue }))), '')
  const schemas = nodes.filter(({ schema }) => schema)
  const places = (wrong: (node: Node, place: string) => boolean, among = schemas) =>
    among.filter(({ node, place }) => wrong(node, place)).map(({ place }) => place)

  test('the walk sees the schemas', () => expect(schemas.length).toBeGreaterThan(400))

  test('no boolean schema but `additionalProperties`, no `not`, no `patternProperties`, no `oneOf`', () => {
    const refused = ['not', 'patternProperties', 'oneOf', 'allOf']
    expect(places((node) => refused.some((keyword) => keyword in node))).toEqual([])
    const lists = ['anyOf', 'properties', 'items', 'propertyNames']
    const isFlag = (value: unknown) => typeof value === 'boolean'
    expect(
      places((node) => lists.some((key) => isFlag(node[key]) || Object.values(node[key] ?? {}).some(isFlag))),
    ).toEqual([])
  })

  test('no default anywhere', () => {
    expect(places((node, place) => 'default' in node && !place.endsWith('/properties'))).toEqual([])
  })

  test('every integer that may pass 2^31 is int64', () => {
    const isInteger = ({ type }: Node) => type === 'integer' || (Array.isArray(type) && type.includes('integer'))
    const narrow = ({ minimum = -Infinity, maximum = Infinity }: Node) =>
      Number(minimum) >= -(2 ** 31) && Number(maximum) < 2 ** 31
    expect(places((node) => isInteger(node) && !narrow(node) && node['format'] !== 'int64')).toEqual([])
  })

  test('every object tells its properties, or that it is open', () => {
    const isObject = ({ type }: Node) => type === 'object' || (Array.isArray(type) && type.includes('object'))
    expect(places((node) => isObject(node) && !('properties' in node) && !('additionalProperties' in node))).toEqual([])
  })

  test('every text of an input has the rule of its characters', () => {
    const isText = ({ type }: Node) => type === 'string' || (Array.isArray(type) && type.includes('string'))
    const inputs = schemas.filter(({ place }) => /schemas\/(\w+(Input|Update)|ConfigDocument)/.test(place))
    expect(places((node) => isText(node) && !('enum' in node) && !('pattern' in node), inputs)).toEqual([])
  })

  test('every tag, operation, parameter and property is described, and every named input has an example', () => {
    const needy =
      /^\/(tags\/\d+|paths\/.+\/(get|post|put|delete)|paths\/.+\/parameters\/\d+|components\/schemas\/.+\/properties\/[^/]+)$/
    const described = ({ description }: Node) => typeof description === 'string' && description.length > 5
    // A reference is described where it leads.
    expect(places((node, place) => needy.test(place) && !described(node) && !('$ref' in node), nodes)).toEqual([])
    const inputs = Object.entries(document.components.schemas).filter(([name]) => /(Input|Update|Document)$/.test(name))
    expect(inputs.filter(([, { examples }]) => examples === undefined).map(([name]) => name)).toEqual([])
  })

  test('every number of time tells its unit', () => {
    const texts = schemas.filter(({ place }) => /(_at(\[\w+\])?|timeout|period|latency)$/.test(place))
    expect(texts.length).toBeGreaterThan(20)
    expect(places((node) => !/seconds/.test(String(node['description'])), texts)).toEqual([])
  })
})

test('the server is the prefix of the mount or the public url, and parts of the host are merged', () => {
  const server = (about: About) => openapi(routes, about)['servers']
  expect(server({})).toEqual([{ url: '/' }])
  expect(server({ basePath: '/ops' })).toEqual([{ url: '/ops' }])
  expect(server({ basePath: '/ops', publicUrl: 'https://hooks.example.com' })).toEqual([
    { url: 'https://hooks.example.com/ops' },
  ])
  expect(server({ basePath: '/ops', publicUrl: 'https://example.com/hooks/' })).toEqual([
    { url: 'https://example.com/hooks' },
  ])
})

test('admin.openapi of the host is merged, and what is no part of it is refused', async () => {
  const bearer = { type: 'http', scheme: 'bearer' }
  const given = { security: [{ bearer: [] }], securitySchemes: { bearer }, info: { title: 'Hooks of Acme' } }
  const { call } = api({ admin: { basePath: '/ops', openapi: given } })
  const { body } = await call('GET', '/openapi.json')
  expect(body).toMatchObject({
    info: { title: 'Hooks of Acme', version: '1.1.0' },
    servers: [{ url: '/ops' }],
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer } },
  })
  expect((await new Validator().validate({ ...body })).errors ?? []).toEqual([])
  const wrong = { openapi: { tags: [] } } as object
  expect(() => api({ admin: wrong })).toThrow('createPosthorn: admin.openapi.tags: property is unsupported')
})

/** The validator of a schema of the document, references resolved. */
async function validatorOf(schema: object): Promise<(value: unknown) => unknown> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'doc', components: document.components })
  const text = JSON.stringify(schema).replaceAll('#/components', 'doc#/components')
  const validate = ajv.compile(JSON.parse(text) as object)
  return (value) => (validate(value) ? null : validate.errors)
}

test('every example satisfies its schema, and the API takes those of inputs', async () => {
  const examples = Object.entries(document.components.schemas).flatMap(([name, { examples: given = [] }]) =>
    given.map((example) => [name, example] as const),
  )
  expect(examples.length).toBeGreaterThan(10)
  const { call, made } = api()
  await made('/sources', { id: 'src_1', config: {} })
  const paths = {
    WorkspaceInput: 'workspaces',
    EndpointInput: 'endpoints',
    SourceInput: 'sources',
    PluginInput: 'plugins',
    EventInput: 'events',
  }
  for (const [name, example] of examples) {
    const validate = await validatorOf({ $ref: `#/components/schemas/${name}` })
    expect(validate(example), name).toBeNull()
    const noun = paths[name as keyof typeof paths]
    if (noun !== undefined) expect((await call('POST', `/${noun}`, example)).status, name).toBe(201)
    if (name === 'ConfigDocument') expect((await call('POST', '/config/sync', example)).status).toBe(200)
  }
})

test('what the API answers satisfies the schema of the answer', async () => {
  const posthorn = createTestPosthorn()
  await posthorn.workspaces.create({ id: 'w' })
  await posthorn.endpoints.create('w', {
    id: 'e',
    request: { url },
    events: ['*'],
    rate_limit: { quota: 9, period: 1 },
  })
  await posthorn.sources.create('w', {
    id: 's',
    config: { http: { response: { code: 200, content_type: 'text/plain' } } },
  })
  await posthorn.plugins.create('w', { id: 'p', name: 'standard-webhooks', endpoint_id: 'e' })
  await posthorn.events.create('w', { id: 'v', event_type: 'a', data: {} })
  await posthorn.drain()
  const { data } = await posthorn.attempts.list('w')
  const idOf: Record<string, string> = {
    workspaces: 'w',
    endpoints: 'e',
    sources: 's',
    plugins: 'p',
    events: 'v',
    attempts: data[0]!.id,
  }

  for (const { path, method, operationId, responses, requestBody } of operations) {
    if (method === 'delete' || operationId === 'openapi') continue
    const noun = operationId.split('.')[0]!
    const concrete = path
      .replace('{ws_id}', 'w')
      .replace('{event_id}', 'v')
      .replace('{endpoint_id}', 'e')
      .replace('{id}', idOf[noun] ?? '')
    const name = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1)
    const [example = {}] = name === undefined ? [] : (document.components.schemas[name]?.examples ?? [])
    const body =
      noun === 'plugins'
        ? { name: 'key-auth', source_id: 's', config: { param_name: 'k', param_locations: ['query'], key: 'k' } }
        : example
    // The plugin that is there stays where it is.
    const sent = operationId === 'plugins.update' || operationId === 'plugins.patch' ? {} : body
    const query = operationId === 'events.retry' ? '?endpoint_id=e' : ''
    const response = await posthorn.admin.fetch(
      new Request(`http://admin.test${concrete}${query}`, {
        method: method.toUpperCase(),
        headers: { accept: 'application/json' },
        ...(method !== 'get' && { body: JSON.stringify(sent) }),
      }),
    )
    const text = await response.text()
    const schema = responses[response.status]?.content?.['application/json']?.schema
    expect(schema, `${operationId} ${response.status} ${text}`).toBeDefined()
    const validate = await validatorOf(schema!)
    expect(validate(JSON.parse(text)), `${operationId} ${text}`).toBeNull()
  }
})
