import type { Difference, Seen } from './compare.ts'
import { long } from './requests.ts'

export interface Rule {
  /** The first cell of its line in the table of docs/moving-from-webhookx.md. */
  readonly row: string
  /** Where it is seen: only without the switch, which ends it; with and without; or only with the switch. */
  readonly seen: 'without' | 'both' | 'with'
  claims(difference: Difference): boolean
}

const statusOf = (seen: unknown): number => (seen as Seen | undefined)?.status ?? 0
/** That the one is answered so and the other so, with this in our body. */
const answered = ({ part, theirs, ours }: Difference, their: number, our: number, text = ''): boolean =>
  part === 'status' && statusOf(theirs) === their && statusOf(ours) === our && JSON.stringify(ours).includes(text)
const isSync = ({ ask }: Difference): boolean => ask.includes('/config/sync')
const isDump = ({ ask }: Difference): boolean => ask.includes('/config/dump')
const isDelivery = ({ ask }: Difference): boolean => ask.startsWith('a delivery')
const isAttempt = ({ ask }: Difference): boolean => ask.startsWith('an attempt')
const hasEmptyValue = ({ ask }: Difference): boolean => /[?&][^=&]+=(&|$)/.test(ask)
const recorded = 'body.request.headers.'

/** Every difference that is known, in the order of the table. */
export const rules: readonly Rule[] = [
  {
    row: 'header `X-Webhookx-Event-Id` of the gateway',
    seen: 'without',
    claims: ({ part, ours }) => part === 'header x-webhookx-event-id' && ours === undefined,
  },
  {
    row: 'headers `Webhookx-Event-Id` and `Webhookx-Delivery-Id` of deliveries',
    seen: 'without',
    claims: (one) => isDelivery(one) && /^header webhookx-(event|delivery)-id$/.test(one.part),
  },
  {
    row: 'a kind that is absent from a sync',
    seen: 'without',
    claims: (one) =>
      (/^\d+ GET \/sources$/.test(one.ask) && /total|length/.test(one.part) && one.theirs === 0) ||
      (isDump(one) && one.part === 'body.sources' && Array.isArray(one.ours) && one.ours.length > 0),
  },
  {
    row: 'empty query values',
    seen: 'without',
    claims: (one) => hasEmptyValue(one) && answered(one, 200, 400, 'is empty'),
  },
  {
    row: 'order of the members of errors',
    seen: 'without',
    claims: ({ part }) => /^body\.error\.fields.* order$/.test(part),
  },
  {
    row: 'names of recorded request headers',
    seen: 'without',
    claims: (one) => {
      if (!isAttempt(one) || !one.part.startsWith(recorded)) return false
      const name = one.part.slice(recorded.length)
      return one.theirs === undefined ? name === name.toLowerCase() : one.ours === undefined
    },
  },
  {
    row: 'an attempt asked for by hand, until a worker takes it',
    seen: 'without',
    claims: ({ ask, part }) => ask.startsWith('no worker: GET /attempts') && /status|total|length/.test(part),
  },
  {
    row: 'PUT of a source without `response`',
    seen: 'without',
    claims: ({ part, theirs, ours }) => part.endsWith('config.http.response') && theirs !== null && ours === null,
  },
  {
    row: 'empty values of texts, numbers and flags',
    seen: 'with',
    claims: (one) =>
      hasEmptyValue(one) &&
      (answered(one, 400, 200) ||
        /^body\.(total|data\.length)$/.test(one.part) ||
        (one.ask.endsWith('?after=') && one.part !== 'status')),
  },
  {
    row: 'an attempt asked for by hand, while its request is under way',
    seen: 'with',
    claims: ({ ask, part, theirs, ours }) =>
      ask.includes(long('slow')) && part === 'body.data.0.status' && theirs === 'QUEUED' && ours === 'INIT',
  },
  {
    row: 'event id of a request with a `unique_id`',
    seen: 'with',
    claims: ({ part, theirs }) => part === 'header x-webhookx-event-id' && theirs === undefined,
  },
  { row: 'header `Server`', seen: 'both', claims: ({ part }) => part === 'header server' },
  { row: '`GET /`', seen: 'both', claims: ({ ask }) => /^\d+ GET \/$/.test(ask) },
  {
    row: 'wrong methods, HEAD, a slash at the end',
    seen: 'both',
    claims: ({ ask }) => /^\d+ (PATCH \/endpoints|HEAD \/endpoints|GET \/endpoints\/)$/.test(ask),
  },
  {
    row: 'id of the workspace `default`',
    seen: 'both',
    claims: ({ ask, theirs, ours }) =>
      (theirs === '<id>' && ours === 'default') ||
      ask.endsWith(' GET /workspaces/default') ||
      (typeof theirs === 'string' && theirs.replace("ws_id='<id>'", "ws_id='default'") === ours),
  },
  {
    row: 'other workspaces',
    seen: 'both',
    claims: (one) => / (POST \/workspaces|DELETE \/workspaces\/\S+)$/.test(one.ask) && statusOf(one.theirs) === 403,
  },
  {
    row: 'ids of less than 27 characters',
    seen: 'both',
    claims: ({ theirs, ours }) => typeof theirs === 'string' && theirs !== ours && theirs.trimEnd() === ours,
  },
  {
    row: 'texts about malformed JSON and YAML',
    seen: 'both',
    claims: ({ part, theirs, ours }) =>
      part === 'body.message' &&
      /EOF|^json: |JSON input|^malformed yaml/.test(String(theirs)) &&
      typeof ours === 'string',
  },
  { row: 'a body that is `null`', seen: 'both', claims: (one) => answered(one, 500, 400) },
  {
    row: 'urls and names of headers of endpoints',
    seen: 'both',
    claims: (one) => answered(one, 201, 400, 'http or https URL') || answered(one, 201, 400, 'invalid header name'),
  },
  {
    row: '`plugins` outside a config document',
    seen: 'both',
    claims: (one) => answered(one, 201, 400, '"plugins":"property is unsupported"'),
  },
  { row: 'a time filter that is no number', seen: 'both', claims: ({ ask }) => ask.endsWith('=soon') },
  {
    row: 'unknown bounds and statuses in filters',
    seen: 'both',
    claims: (one) => answered(one, 200, 400, 'unknown bound') || answered(one, 200, 400, 'status: value is not one of'),
  },
  { row: 'one path for one source', seen: 'both', claims: (one) => answered(one, 201, 400, "path='/in'") },
  {
    row: 'a path without a slash',
    seen: 'both',
    claims: ({ part, ours }) => part.endsWith('http.path') && ours === 'value must start with "/"',
  },
  {
    row: 'a blank path of a source that is there',
    seen: 'both',
    claims: ({ part, theirs, ours }) => part.endsWith('config.http.path') && theirs === '' && ours === '/<path>',
  },
  {
    row: 'order of the members of `config` of a plugin',
    seen: 'both',
    claims: ({ part }) => /(^|\.)config order$/.test(part),
  },
  {
    row: 'a plugin at the wrong owner',
    seen: 'both',
    claims: ({ part, ours }) => part === 'body.error.fields.endpoint_id' && String(ours).includes('is not allowed'),
  },
  {
    row: 'an empty document',
    seen: 'both',
    claims: (one) => isSync(one) && answered(one, 200, 400, 'the document is no mapping'),
  },
  {
    row: 'places of errors of plugins in a sync',
    seen: 'both',
    claims: (one) => isSync(one) && /^body\.error\.fields\.(name|endpoints)$/.test(one.part),
  },
  {
    row: 'entries without id and name',
    seen: 'both',
    claims: (one) => isSync(one) && answered(one, 200, 400, 'id or name is required'),
  },
  {
    row: 'unknown top-level members of a document',
    seen: 'both',
    claims: (one) => isSync(one) && answered(one, 200, 400, 'property is unsupported'),
  },
  {
    row: 'answers of a sync and of a retry',
    seen: 'both',
    claims: (one) => one.part === 'body' && one.theirs === null && (isSync(one) || one.ask.includes('/retry?')),
  },
  {
    row: 'form of a dump',
    seen: 'both',
    claims: (one) =>
      isDump(one) &&
      (one.part === 'header content-type' ||
        /plugins\.\d+\.(endpoint|source)_id$/.test(one.part) ||
        (one.theirs === null && Array.isArray(one.ours) && one.ours.length === 0)),
  },
  {
    row: 'id of a row that a sync names by its name',
    seen: 'both',
    claims: (one) => isDump(one) && one.part === 'body.endpoints.0.id' && one.theirs === '<id>',
  },
  {
    row: 'other headers of the gateway',
    seen: 'both',
    claims: ({ part, theirs }) =>
      theirs === undefined && /^header (webhook-event-id|content-security-policy|x-content-type-options)$/.test(part),
  },
  { row: 'disabled sources', seen: 'both', claims: (one) => one.ask.endsWith('POST /off') && answered(one, 200, 404) },
  {
    row: 'an event id that comes twice',
    seen: 'both',
    claims: (one) => one.ask.endsWith('POST /events') && answered(one, 201, 400, 'already exists'),
  },
  {
    row: 'a `unique_id` that comes twice',
    seen: 'both',
    claims: (one) => one.ask.endsWith('POST /events') && answered(one, 201, 200, '"unique_id":"once"'),
  },
  { row: '`error_message` of attempts', seen: 'both', claims: ({ part }) => part.endsWith('.error_message') },
  {
    row: 'other headers of deliveries',
    seen: 'both',
    claims: (one) => {
      const name = '(user-agent|accept-encoding|webhook-(id|event-type|delivery-id|attempt))'
      if (isDelivery(one)) return new RegExp(`^header ${name}$`).test(one.part)
      return isAttempt(one) && new RegExp(`^body.request.headers(.${name}| order)$`, 'i').test(one.part)
    },
  },
  {
    row: 'a header that an endpoint and the service set',
    seen: 'both',
    claims: ({ part, ours }) => /user-agent$/i.test(part) && ours === 'mine',
  },
  {
    row: 'framing of deliveries, form of names on the wire',
    seen: 'both',
    claims: (one) =>
      isDelivery(one) && /^(header (connection|transfer-encoding|content-length)|body\.form)$/.test(one.part),
  },
  {
    row: 'bodies of GET and DELETE deliveries',
    seen: 'both',
    claims: ({ ask, part }) => / get-| GET /.test(ask) && /^body\.(text|request\.body)$/.test(part),
  },
  {
    row: 'secret headers in records',
    seen: 'both',
    claims: ({ part, ours }) => /headers\.authorization$/i.test(part) && ours === '***',
  },
  {
    row: 'recorded headers of answers',
    seen: 'both',
    claims: (one) => isAttempt(one) && one.part.startsWith('body.response.headers'),
  },
  {
    row: 'bytes of a retry',
    seen: 'both',
    claims: ({ part, theirs, ours }) =>
      /^body\.(text|request\.body)$/.test(part) && theirs === '{"a": 1}' && ours === '{"a":1}',
  },
  {
    row: '`*` in the events of an endpoint',
    seen: 'both',
    claims: ({ ask, theirs }) => ask.startsWith('a delivery: POST /all') && statusOf(theirs) === -1,
  },
]
