import type { Misfits, Operation, OperationName } from './operation.ts'

/**
 * Every use case, declared once. The routes, the names that `authorize` gets, the OpenAPI document, the client and the
 * functions of `createPosthorn` are made from this table. The order is that of the OpenAPI document.
 */
const table = {
  'workspaces.list': { http: 'GET /workspaces', answers: { 200: 'Workspace' }, list: true },
  'workspaces.create': { http: 'POST /workspaces', input: 'WorkspaceInput', answers: { 201: 'Workspace' } },
  'workspaces.ensure': {
    http: 'POST /workspaces/ensure',
    input: 'EnsureWorkspaceInput',
    answers: { 201: 'Workspace', 200: 'Workspace' },
  },
  'workspaces.get': { http: 'GET /workspaces/{id}', answers: { 200: 'Workspace' } },
  'workspaces.update': { http: 'PUT /workspaces/{id}', input: 'WorkspaceUpdate', answers: { 200: 'Workspace' } },
  'workspaces.patch': { http: 'PATCH /workspaces/{id}', input: 'WorkspacePatch', answers: { 200: 'Workspace' } },
  'workspaces.delete': { http: 'DELETE /workspaces/{id}', answers: { 204: null } },

  'endpoints.list': { http: 'GET {P}/endpoints', answers: { 200: 'Endpoint' }, list: true, tenant: true },
  'endpoints.create': {
    http: 'POST {P}/endpoints',
    input: 'EndpointInput',
    answers: { 201: 'Endpoint' },
    tenant: true,
  },
  'endpoints.get': { http: 'GET {P}/endpoints/{id}', answers: { 200: 'Endpoint' }, tenant: true },
  'endpoints.update': {
    http: 'PUT {P}/endpoints/{id}',
    input: 'EndpointUpdate',
    answers: { 200: 'Endpoint' },
    tenant: true,
  },
  'endpoints.patch': {
    http: 'PATCH {P}/endpoints/{id}',
    input: 'EndpointPatch',
    answers: { 200: 'Endpoint' },
    tenant: true,
  },
  'endpoints.delete': { http: 'DELETE {P}/endpoints/{id}', answers: { 204: null }, tenant: true },

  'sources.list': { http: 'GET {P}/sources', answers: { 200: 'Source' }, list: true },
  'sources.create': { http: 'POST {P}/sources', input: 'SourceInput', answers: { 201: 'Source' } },
  'sources.get': { http: 'GET {P}/sources/{id}', answers: { 200: 'Source' } },
  'sources.update': { http: 'PUT {P}/sources/{id}', input: 'SourceUpdate', answers: { 200: 'Source' } },
  'sources.patch': { http: 'PATCH {P}/sources/{id}', input: 'SourcePatch', answers: { 200: 'Source' } },
  'sources.delete': { http: 'DELETE {P}/sources/{id}', answers: { 204: null } },

  'plugins.list': { http: 'GET {P}/plugins', answers: { 200: 'Plugin' }, list: true },
  'plugins.create': { http: 'POST {P}/plugins', input: 'PluginInput', answers: { 201: 'Plugin' } },
  'plugins.get': { http: 'GET {P}/plugins/{id}', answers: { 200: 'Plugin' } },
  'plugins.update': { http: 'PUT {P}/plugins/{id}', input: 'PluginUpdate', answers: { 200: 'Plugin' } },
  'plugins.patch': { http: 'PATCH {P}/plugins/{id}', input: 'PluginPatch', answers: { 200: 'Plugin' } },
  'plugins.delete': { http: 'DELETE {P}/plugins/{id}', answers: { 204: null } },
  'sources.requests': { http: 'GET {P}/sources/{id}/requests', answers: { 200: 'SourceRequests' } },

  'endpoints.health': { http: 'GET {P}/endpoints/{id}/health', answers: { 200: 'EndpointHealth' }, tenant: true },
  'endpoints.test': {
    http: 'POST {P}/endpoints/{id}/test',
    input: 'TestInput',
    answers: { 200: 'Attempt' },
    tenant: true,
    changes: false,
  },
  'endpoints.secret': {
    http: 'GET {P}/endpoints/{id}/secret',
    answers: { 200: 'EndpointSecret' },
    tenant: true,
    changes: true,
  },
  'endpoints.rotateSecret': {
    http: 'POST {P}/endpoints/{id}/secret/rotate',
    input: 'RotateInput',
    answers: { 200: 'EndpointSecret' },
    tenant: true,
  },
  'events.list': { http: 'GET {P}/events', answers: { 200: 'Event' }, list: true, tenant: true },
  'events.create': {
    http: 'POST {P}/events',
    input: 'EventInput',
    answers: { 201: 'Event', 200: 'Event' },
    changes: false,
  },
  'events.createMany': {
    http: 'POST {P}/events/batch',
    input: 'EventBatch',
    answers: { 200: 'PublishAnswer[]' },
    changes: false,
  },
  'events.replay': {
    http: 'POST {P}/events/replay',
    input: 'ReplayInput',
    options: ['dry_run'],
    answers: { 200: 'ReplayReport' },
    tenant: true,
  },
  'events.erase': {
    http: 'POST {P}/events/erase',
    input: 'EraseInput',
    answers: { 200: 'EraseReport' },
  },
  'events.get': { http: 'GET {P}/events/{id}', answers: { 200: 'Event' }, tenant: true },
  'events.delete': { http: 'DELETE {P}/events/{id}', answers: { 204: null } },
  'events.retry': {
    http: 'POST {P}/events/{id}/retry',
    query: ['endpoint_id'],
    answers: { 200: 'Attempt' },
    tenant: true,
  },
  'events.explain': {
    http: 'GET {P}/events/{id}/explain',
    texts: ['limit', 'after'],
    answers: { 200: 'Explanation[]' },
    tenant: true,
  },

  'attempts.list': { http: 'GET {P}/attempts', answers: { 200: 'Attempt' }, list: true, tenant: true },
  'attempts.get': { http: 'GET {P}/attempts/{id}', answers: { 200: 'Attempt' }, tenant: true },

  stats: { http: 'GET {P}/stats', asks: 'stats', answers: { 200: 'StatsReport' }, tenant: true },
  'instance.stats': { http: 'GET /instance/stats', asks: 'instance', answers: { 200: 'StatsReport' } },
  'instance.processes': { http: 'GET /instance/processes', answers: { 200: 'Process[]' } },
  'deliveries.list': { http: 'GET {P}/deliveries', answers: { 200: 'Delivery' }, list: true, tenant: true },
  'deliveries.get': {
    http: 'GET {P}/deliveries/{event_id}/{endpoint_id}',
    answers: { 200: 'DeliveryDetails' },
    tenant: true,
  },
  'deliveries.retry': {
    http: 'POST {P}/deliveries/{event_id}/{endpoint_id}/retry',
    answers: { 200: 'Attempt' },
    tenant: true,
  },

  'config.sync': {
    http: 'POST {P}/config/sync',
    input: 'ConfigDocument',
    options: ['dry_run'],
    answers: { 200: 'SyncReport' },
  },
  'config.dump': {
    http: 'POST {P}/config/dump',
    texts: ['secrets'],
    answers: { 200: 'ConfigDocument' },
    changes: 'in clear',
  },
  'eventTypes.list': {
    http: 'GET {P}/event-types',
    options: ['hidden'],
    answers: { 200: 'EventType[]' },
    tenant: true,
  },
} as const satisfies Record<OperationName, Operation>

/**
 * The names of all operations. An operation that an error of the compiler names here does not fit the function of that
 * name in surface/.
 */
type Fitting<Misfit extends never> = Exclude<OperationName, Misfit>

export const operations: Readonly<Record<Fitting<Misfits<typeof table>>, Operation>> = table
