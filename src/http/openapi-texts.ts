import type { Texts } from './openapi-inputs.ts'

const times = {
  created_at:
    'When the row was made, unix milliseconds. Posthorn sets this time and ignores what a client writes here.',
  updated_at:
    'When the row last changed, unix milliseconds. Posthorn sets this time and ignores what a client writes here.',
}
const common = {
  id: 'Id of the row. Posthorn makes one where a create gives none; an update ignores this property.',
  metadata: 'Free pairs of text for your own use. Keys have at most 128 characters, values at most 4096.',
  ...times,
}
const rateLimit = (what: string): Texts => ({
  rate_limit: `How many ${what} pass; null means no limit.`,
  'rate_limit.quota': 'How many pass in each period. 0 lets none pass.',
  'rate_limit.period': 'Length of the period, seconds.',
})

export const workspaceTexts: Texts = {
  ...common,
  name: 'Name of the workspace, unique in the instance when it is not null.',
  description: 'What the workspace is for.',
  limits: 'What the workspace may use. Null means that only the limits of the instance hold.',
  'limits.events_per_second': 'How many events are accepted in each second. Others are refused with 429.',
  'limits.retention_days':
    'Events and finished attempts older than this many days are removed, unless the instance removes them earlier.',
  'limits.endpoints': 'The most endpoints of the workspace, unless the instance allows fewer.',
}

export const ensureTexts: Texts = {
  id: 'Id of the workspace.',
  name: 'Name of the workspace where one is created, unique in the instance when it is not null.',
}

export const endpointTexts: Texts = {
  ...common,
  name: 'Name of the endpoint, unique in the workspace when it is not null.',
  description: 'What the endpoint is for.',
  enabled: 'Whether events are sent to this endpoint.',
  request: 'The request that carries an event to its receiver.',
  'request.url': 'An absolute http or https URL without user name and password.',
  'request.method': 'Method of the request.',
  'request.headers': 'Headers of each request. Headers that frame or route a message, such as `host`, cannot be set.',
  'request.timeout': 'How long the receiver may take, milliseconds. 0 means the limit of the instance.',
  retry: 'When a delivery that failed is tried again.',
  'retry.strategy': 'How the times of the tries are found: `fixed` takes them from the list.',
  'retry.config': 'The settings of the strategy.',
  'retry.config.jitter': 'The most that is added to each wait, as a share of the wait. Waits are never shorter.',
  'retry.config.attempts':
    'One entry for each try: how long to wait before the try, in seconds, counted from the end of the try before.',
  disabled_at:
    'Since when the endpoint is off, unix milliseconds; null while the endpoint is on. Posthorn sets this time and ignores what a client writes here.',
  disabled_reason:
    'Why the endpoint is off: `manual` by a write, `gone` after 410, `breaker` by the circuit breaker, `failing` after days of failures. Posthorn sets this property and ignores what a client writes here.',
  disabled_detail: 'The reason as one sentence. Posthorn sets this property and ignores what a client writes here.',
  paused: 'While true, attempts are made and wait. Nothing is sent, canceled or missed.',
  missed_since:
    'Only in the answer to the write that turned the endpoint on: since when it missed events, unix milliseconds; null where that is not known. What a client writes here is ignored.',
  events: 'Event types, or patterns of them, that this endpoint gets: `invoice.paid`, `invoice.*`, `invoice.**`, `*`.',
  ...rateLimit('deliveries'),
}

export const sourceTexts: Texts = {
  ...common,
  name: 'Name of the source, unique in the workspace when it is not null.',
  enabled: 'Whether the gateway takes requests for this source.',
  type: 'Kind of the source.',
  config: 'Where the gateway takes requests for this source, and how it answers them.',
  'config.http': 'The settings of a source of type `http`.',
  'config.http.path':
    'Path under the gateway, exact and decoded. Where none or an empty one is given, Posthorn makes one that nobody guesses.',
  'config.http.methods': 'Methods of the requests that this source takes.',
  'config.http.response': 'What an accepted request is answered. Null means a JSON message.',
  'config.http.response.code': 'HTTP status of the answer.',
  'config.http.response.content_type': 'Content type of the answer.',
  'config.http.response.body': 'Body of the answer.',
  async: 'Whether a request is answered once the inbox has it, before the event is stored.',
  ...rateLimit('requests'),
}

export const pluginTexts: Texts = {
  ...common,
  name: 'Kind of the plugin, such as `hmac-auth`. An endpoint or a source has at most one of each kind.',
  enabled: 'Whether the plugin runs.',
  endpoint_id: 'Id of the endpoint whose deliveries the plugin works on.',
  source_id: 'Id of the source whose requests the plugin works on.',
  config: 'The settings of the plugin, as the kind asks for them.',
}

export const eventTexts: Texts = {
  ...common,
  id: 'Id of the event. Posthorn makes one where none is given.',
  event_type: 'Type of the event, without control characters. Endpoints choose events by this type.',
  data: 'What the event says. Posthorn stores and sends these bytes as they came.',
  unique_id: 'A key against duplicates: a second event of the workspace with the same key is not stored.',
  ingested_at:
    'When the event was accepted, unix milliseconds. Posthorn sets this time and ignores what a client writes here.',
}

const nested = (kind: string, texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([path, text]) => [`${kind}[].${path}`, text]))
const plugins = 'The plugins of this entry. Plugins that the list does not name are deleted.'

export const configTexts: Texts = {
  endpoints:
    'The endpoints of the workspace; each entry has an id or a name. Endpoints that the list does not name are deleted. Without this property, endpoints stay as they are.',
  sources:
    'The sources of the workspace; each entry has an id or a name. Sources that the list does not name are deleted. Without this property, sources stay as they are.',
  ...nested('endpoints', { ...endpointTexts, plugins }),
  ...nested('endpoints[].plugins', pluginTexts),
  ...nested('sources', { ...sourceTexts, plugins }),
  ...nested('sources[].plugins', pluginTexts),
}

export const replayTexts: Texts = {
  '': 'Which deliveries are sent again. `{}` means all that failed or were canceled.',
  event_types: 'Only events of these types, compared exactly.',
  endpoint_id: 'Only deliveries to this endpoint.',
  created_at: 'Only deliveries of events made at this moment or between these bounds, unix milliseconds.',
  attempted_at: 'Only deliveries whose last try was at this moment or between these bounds, unix milliseconds.',
  missing:
    'What the endpoint never got, in place of what failed: events that match `endpoint_id` now and have no attempt to it.',
  gt: 'Later than this moment, unix milliseconds.',
  gte: 'At this moment or later, unix milliseconds.',
  lt: 'Earlier than this moment, unix milliseconds.',
  lte: 'At this moment or earlier, unix milliseconds.',
  status: 'Only deliveries that ended so; null means both.',
  after: 'Where an earlier replay stopped: the `next` of its report.',
  limit: 'Most deliveries that one call sends again.',
}

export const eraseTexts: Texts = {
  '': 'Which events are erased. One of the three filters is required; all that are given must hold.',
  unique_id: 'Only the event with this `unique_id`.',
  event_type: 'Only events of exactly this type.',
  created_at: 'Only events made at this moment or between these bounds, unix milliseconds.',
  gt: 'Later than this moment, unix milliseconds.',
  gte: 'At this moment or later, unix milliseconds.',
  lt: 'Earlier than this moment, unix milliseconds.',
  lte: 'At this moment or earlier, unix milliseconds.',
  limit: 'Most events that one call erases.',
}

export const rotateTexts: Texts = {
  overlap_seconds: 'How long deliveries carry the signatures of the old secrets too, seconds. 0 ends them at once.',
  secret: 'The new secret. Where none is given, Posthorn makes one of the same kind of key.',
}

export const testTexts: Texts = {
  event_type: 'Type of the sample event.',
  data: 'Any JSON value. Default: an object with a short message.',
}

/** What each operation does, beyond the summary. */
export const operationTexts: Texts = {
  version: 'Answers without authentication of Posthorn’s own, so that a caller sees that the API is there.',
  openapi: 'This document, made from the routes that answer and the schemas that validate.',
  ...ofNoun('workspaces', 'workspace', 'Its endpoints, sources, plugins, events and attempts are deleted with it.'),
  'workspaces.ensure':
    'Creates the workspace with this id, or answers the one that is there as it is, with 200. Of many calls at once one creates.',
  ...ofNoun('endpoints', 'endpoint', 'Its plugins are deleted with it, and its open attempts are canceled.'),
  ...ofNoun('sources', 'source', 'Its plugins are deleted with it. The gateway then answers 404 for its path.'),
  ...ofNoun('plugins', 'plugin', 'The endpoint or source goes on without it.'),
  'endpoints.health':
    'Tells the last success and the last failure of the endpoint, how many deliveries wait, and how many tries succeeded.',
  'sources.requests':
    'Answers the last 50 requests that the gateway took for the source, newest first, without headers and bodies. Only the process that answers is asked: others have taken others.',
  'endpoints.test':
    'Sends one event to the endpoint at once, waits until the delivery ended, and answers its attempt. A failed test is not tried again.',
  'endpoints.secret':
    'Answers the secret of the signature plugin of this endpoint in clear, with the old ones that still sign beside it.',
  'endpoints.rotateSecret':
    'Gives the signature plugin of this endpoint a new secret and answers that secret. Deliveries carry the signatures of the old secrets too, until the overlap ends.',
  'events.list': listText('events'),
  'events.create':
    'Stores the event and makes an attempt for each endpoint whose patterns match the type. Deliveries follow in the background. An event with a `unique_id` that was seen before is not stored: the answer is then 200 with the stored event.',
  'events.createMany':
    'Stores up to 500 events together. The answer has one entry for each event, in order: the event and whether it was stored now, or the error that this event alone would have got. An event that is refused refuses no other.',
  'events.get': 'Answers one event with its data.',
  'events.erase':
    'Erases the events that the filter finds, up to `limit` of them, with their attempts and all that was recorded. Open attempts are not sent. Where `more` is true, the same call goes on; so it does after a call that was broken off.',
  'events.delete':
    'Erases an event with its attempts and all that was recorded. Open attempts are not sent. An id that is not known is answered 204 too.',
  'events.replay':
    'Makes one attempt for each delivery that the filter finds, up to `limit` of them. Test deliveries are never sent again. Where more are left, `next` of the report tells where the next call goes on.',
  'events.retry': 'Makes one attempt at once, whatever became of earlier ones.',
  'events.explain': 'Tells for each endpoint of the workspace whether the event matched, why, and what became of it.',
  'attempts.list': `${listText('attempts')} Headers and bodies are null in a list.`,
  'attempts.get':
    'Answers one attempt with the headers and bodies of its request and its response, cut where they are long.',
  stats:
    'Answers one bucket for each minute, hour or day with the attempts that ended in it, empty ones included, at most 1,500. Days are those of UTC. Percentiles come from a histogram of powers of two. Test deliveries are left out.',
  'instance.stats': 'Answers the same as the statistics of a workspace, over all workspaces.',
  'instance.processes':
    'Answers the processes that worked for this instance in the last five minutes. Each tells how it does once a minute.',
  'eventTypes.list':
    'Answers the event types that the host declares, each with its JSON Schema where the schema tells one. Hidden ones only with `hidden=true`.',
  'deliveries.list':
    'Answers deliveries, newest first by the time of their event. All attempts of an event to an endpoint are one delivery; test deliveries are none. The list has cursors only: `next` and `prev`.',
  'deliveries.get': 'Answers one delivery with all its attempts.',
  'deliveries.retry': 'Makes one attempt at once, whatever became of earlier ones.',
  'config.sync':
    'Creates, updates and deletes endpoints, sources and their plugins until they are as the document says, all in one step. A kind that the document does not name is left alone.',
  'config.dump':
    'Answers the endpoints, sources and plugins of the workspace as a document that a sync takes. The answer is YAML unless `format` or `Accept` asks for JSON.',
}

function listText(nouns: string): string {
  return `Answers ${nouns}, newest first unless \`sort\` says otherwise. With \`limit\`, \`after\` or \`before\` the page has \`next\` and \`prev\`; otherwise the page has \`total\`.`
}

function ofNoun(nouns: string, noun: string, deletion: string): Texts {
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a'
  return {
    [`${nouns}.list`]: listText(nouns),
    [`${nouns}.create`]: `Makes ${article} ${noun}. Properties that are missing or null take their defaults.`,
    [`${nouns}.get`]: `Answers one ${noun}.`,
    [`${nouns}.update`]: `Changes ${article} ${noun}. A property that is missing keeps its value; one that is given replaces the whole value.`,
    [`${nouns}.patch`]: `Changes ${article} ${noun} by a JSON merge patch (RFC 7396): objects are merged at any depth, null removes a member, which then has its default.`,
    [`${nouns}.delete`]: `Deletes ${article} ${noun}. ${deletion} An id that is not known is answered 204 too.`,
  }
}

export const tagTexts: Texts = {
  about: 'What this server is.',
  workspaces: 'Namespaces of everything else: one for each tenant, environment or application.',
  endpoints: 'Receivers of events.',
  sources: 'Places where the gateway takes requests of others and makes events of them.',
  plugins: 'What works on the deliveries of an endpoint or on the requests of a source.',
  events: 'What was published.',
  deliveries: 'All tries to deliver an event to an endpoint, as one row.',
  attempts: 'Tries to deliver an event to an endpoint.',
  stats: 'How many attempts ended, by time.',
  instance: 'What is told of all workspaces and processes together.',
  config: 'The endpoints, sources and plugins of a workspace as one document.',
  eventTypes: 'What the host publishes.',
}
