import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'

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

test('lists tell every parameter, and which are deprecated', () => {
  const list = operations.find(({ operationId }) => operationId === 'endpoints.list')!
  expect(list.parameters.map(({ name }) => name)).toEqual(
    'ws_id page_no page_size limit sort after before name enabled created_at metadata'.split(' '),
  )
  expect(list.parameters.filter(({ deprecated }) => deprecated).map(({ name }) => name)).toEqual([
    'page_no',
    'page_size',
  ])
  expect(list.parameters).toContainEqual(
    expect.objectContaining({ name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 1000 } }),
  )
})

test('bounds and defaults are those that validate', () => {
  expect(document.components.schemas['EndpointInput']).toMatchObject({
    required: ['request'],
    properties: {
      name: { anyOf: [{ type: 'string', maxLength: 512 }, { type: 'null' }], default: null },
      request: {
        required: ['url'],
        properties: {
          method: { anyOf: [{ enum: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] }, { type: 'null' }], default: 'POST' },
          timeout: { anyOf: [{ type: 'integer', minimum: 0, maximum: 60_000 }, { type: 'null' }], default: 10_000 },
        },
      },
    },
  })
  expect(document.components.schemas['Endpoint']).toMatchObject({
    required: 'id name description enabled request retry events metadata rate_limit created_at updated_at'.split(' '),
    properties: { enabled: { type: 'boolean' }, rate_limit: { anyOf: [{ type: 'object' }, { type: 'null' }] } },
  })
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
    const concrete = path.replace('{ws_id}', 'w').replace('{id}', idOf[noun] ?? '')
    const name = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1)
    const [example = {}] = name === undefined ? [] : (document.components.schemas[name]?.examples ?? [])
    const body =
      noun === 'plugins'
        ? { name: 'key-auth', source_id: 's', config: { param_name: 'k', param_locations: ['query'], key: 'k' } }
        : example
    // The plugin that is there stays where it is.
    const sent = operationId === 'plugins.update' ? {} : body
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
