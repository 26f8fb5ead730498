import type { GenericSchema } from 'valibot'

import { configDocument } from '../schema/config.ts'
import { endpointInput } from '../schema/endpoint.ts'
import { eventInput, maxBatchSize } from '../schema/event.ts'
import { pluginInput } from '../schema/plugin.ts'
import { rotateInput } from '../schema/rotate-secret.ts'
import { sourceInput } from '../schema/source.ts'
import { ensureWorkspaceInput, workspaceInput } from '../schema/workspace.ts'
import { eraseInput } from '../services/erase.ts'
import { replayBounds, replayInput, replayMoment } from '../services/replay-input.ts'
import { testInput } from '../services/test-delivery.ts'
import { answers, pageSchema } from './openapi-answers.ts'
import { inputSchema, type Json, patchSchema, type Properties, rowSchema, type Texts } from './openapi-inputs.ts'
import * as texts from './openapi-texts.ts'

/** Every named schema of the API. */
export function componentSchemas(): Properties {
  const pages = ['Workspace', 'Endpoint', 'Source', 'Plugin', 'Event', 'Attempt', 'Delivery'].map((name) => [
    `${name}Page`,
    pageSchema({ $ref: `#/components/schemas/${name}` }),
  ])
  return {
    ...resource('Workspace', workspaceInput, texts.workspaceTexts, workspace),
    ...endpoints(),
    ...resource('Source', sourceInput, texts.sourceTexts, source),
    ...resource('Plugin', pluginInput, texts.pluginTexts, plugin),
    EventInput: {
      ...inputSchema(eventInput, texts.eventTexts),
      examples: [{ event_type: 'invoice.paid', data: { id: 'in_1', amount: 4200 } }],
    },
    Event: event(),
    EventBatch: {
      type: 'array',
      items: { $ref: '#/components/schemas/EventInput' },
      maxItems: maxBatchSize,
      description: 'Events to publish together.',
      examples: [[{ event_type: 'invoice.paid', data: { id: 'in_1' } }]],
    },
    EnsureWorkspaceInput: {
      ...inputSchema(ensureWorkspaceInput, texts.ensureTexts),
      examples: [{ id: 'acme', name: 'Acme' }],
    },
    ConfigDocument: config(),
    ReplayInput: replay(),
    EraseInput: erase(),
    TestInput: {
      ...inputSchema(testInput, texts.testTexts),
      examples: [{}, { event_type: 'invoice.paid', data: [1] }],
    },
    RotateInput: {
      ...inputSchema(rotateInput, texts.rotateTexts),
      examples: [{ overlap_seconds: 86_400 }],
    },
    ...answers,
    ...Object.fromEntries(pages),
  }
}

function resource(name: string, schema: GenericSchema, described: Texts, example: Json): Properties {
  const taken = inputSchema(schema, described)
  const { required: _, ...partial } = taken
  return {
    [`${name}Input`]: { ...taken, examples: [example] },
    [`${name}Patch`]: { ...patchSchema(taken), examples: [{ metadata: { team: null } }] },
    [`${name}Update`]: { ...partial, examples: [{ metadata: { team: 'billing' } }] },
    [name]: rowSchema(schema, described),
  }
}

/** Only one answer has `missed_since`: the answer to an update that enables the endpoint. */
function endpoints(): Properties {
  const { Endpoint: row = {}, ...inputs } = resource('Endpoint', endpointInput, texts.endpointTexts, endpoint)
  const required = (row['required'] as readonly string[]).filter((name) => name !== 'missed_since')
  return { ...inputs, Endpoint: { ...row, required } }
}

/** What came through the gateway may have any JSON value as its data. */
function event(): Json {
  const row = rowSchema(eventInput, texts.eventTexts) as { readonly properties: Properties }
  return {
    ...row,
    properties: { ...row.properties, data: { description: `${texts.eventTexts['data']} Any JSON value.` } },
  }
}

/** The document of a sync and of a dump. Keys that begin with `x-` are free for the document's owner. */
function config(): Json {
  const { additionalProperties: _, ...document } = inputSchema(configDocument, texts.configTexts)
  const names = Object.keys(document['properties'] as Properties)
  return {
    ...document,
    propertyNames: { pattern: `^(${names.join('|')}|x-.*)$` },
    additionalProperties: true,
    description:
      'The endpoints, sources and plugins of a workspace. Keys that begin with `x-` are free for your own use.',
    examples: [{ endpoints: [{ ...endpoint, plugins: [{ name: 'standard-webhooks' }] }], sources: [source] }],
  }
}

function replay(): Json {
  return {
    ...withRanges(replayInput, texts.replayTexts, ['created_at', 'attempted_at']),
    examples: [
      {},
      { event_types: ['invoice.paid'], status: 'FAILED', created_at: { gte: 1_790_000_000_000 } },
      { endpoint_id: 'ep_1', missing: true },
    ],
  }
}

function erase(): Json {
  return {
    ...withRanges(eraseInput, texts.eraseTexts, ['created_at']),
    examples: [{ unique_id: 'in_1' }, { created_at: { lt: 1_790_000_000_000 } }],
  }
}

/** An input some of whose properties are a moment or bounds. */
function withRanges(schema: GenericSchema, described: Texts, ranges: readonly string[]): Json {
  // The library tells what depends on the input as `$defs`; it is said below in words that every generator knows.
  const { $defs: _, ...input } = inputSchema(schema, described) as Json & { readonly properties: Properties }
  const range = (name: string): Json => ({
    anyOf: [inputSchema(replayMoment), inputSchema(replayBounds, described), { type: 'null' }],
    description: described[name],
  })
  return {
    ...input,
    properties: { ...input.properties, ...Object.fromEntries(ranges.map((name) => [name, range(name)])) },
  }
}

const workspace = { name: 'staging', description: 'What we try before it is live.', metadata: { team: 'payments' } }
const endpoint = {
  name: 'billing',
  request: { url: 'https://example.com/webhooks', headers: { 'X-Tenant': 'acme' } },
  events: ['invoice.*'],
  rate_limit: { quota: 100, period: 60 },
}
const source = { name: 'github', config: { http: { path: '/github', methods: ['POST'] } } }
const plugin = { name: 'basic-auth', source_id: 'src_1', config: { username: 'user', password: 'secret' } }
