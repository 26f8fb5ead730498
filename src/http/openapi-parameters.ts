import { bounds, type listParameters, type Parameters, type statsParameters } from '../schema/page.ts'
import { shownAs } from '../schema/secrets.ts'
import { inputSchema, type Json } from './openapi-inputs.ts'

type Lists = typeof listParameters
type ParameterName =
  | { [Noun in keyof Lists]: keyof Lists[Noun] }[keyof Lists]
  | keyof (typeof statsParameters)['instance']

const parameterTexts: Readonly<Record<ParameterName, string>> = {
  page_no: 'Number of the page, from 1. Default 1.',
  page_size: 'Rows of a page. Default 20.',
  limit: 'Most rows of the page. Default 20.',
  sort: 'Order of the rows. Default `id.desc`.',
  after: 'Only rows strictly beyond this id, in the direction of the sort.',
  before: 'Only rows strictly before this id, in the direction of the sort.',
  name: 'Only rows with exactly this name.',
  enabled: 'Only enabled rows, or only disabled ones.',
  created_at: 'made',
  ingested_at: 'accepted',
  attempted_at: 'sent',
  scheduled_at: 'due',
  metadata: 'Only rows whose metadata holds every pair: `metadata[team]=billing`.',
  endpoint_id: 'Only rows of this endpoint.',
  source_id: 'Only rows of this source.',
  event_id: 'Only rows of this event.',
  event_type: 'Only rows of events of exactly this type.',
  unique_id: 'Only rows of the event with this `unique_id`.',
  status: 'Only rows in this status.',
  final: 'Only attempts that have ended and that no automatic try follows, or only the others.',
  trigger_mode: 'Only attempts that were made for this reason.',
  error_code: 'Only attempts that ended with this error.',
  response_status: 'Only attempts that were answered with this HTTP status.',
  from: 'The first bucket is that of this time, unix milliseconds. Default: 60 minutes, 24 hours or 30 days before `to`.',
  to: 'Buckets that begin at this time or later are left out, unix milliseconds. Default: now, with the bucket of now.',
  step: 'Length of a bucket. Minutes are kept for 6 hours and hours for 90 days. Default `hour`.',
  group_by: 'Adds a list for each group: the 100 groups with the most attempts, and all others as `*`.',
}

const boundTexts = { gt: 'after', gte: 'at or after', lt: 'before', lte: 'at or before' }

/** The parameters of a list as OpenAPI tells them. A filter of time is five plain parameters, which all may be given. */
export function listQuery(parameters: Parameters): Json[] {
  return Object.entries(parameters).flatMap(([key, { kind, schema, deprecated }]) => {
    const name = key as ParameterName // only lists have parameters
    const text = parameterTexts[name]
    if (kind === 'time') {
      const moment = { type: 'integer', format: 'int64' }
      const exact = { ...moment, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
      const bound = (each: (typeof bounds)[number]) =>
        queryParameter(
          `${name}[${each}]`,
          moment,
          `Only rows ${text} ${boundTexts[each]} this moment, unix milliseconds.`,
        )
      return [
        queryParameter(name, exact, `Only rows ${text} at exactly this moment, unix milliseconds.`),
        ...bounds.map(bound),
      ]
    }
    if (kind === 'pairs') {
      return [{ ...queryParameter(name, inputSchema(schema), text), style: 'deepObject', explode: true }]
    }
    // An empty value is refused, but for a name, which may be empty.
    const described = inputSchema(schema)
    const filled = kind === 'text' && name !== 'name' && !('enum' in described)
    const taken = { ...described, ...(filled && { minLength: 1 }) }
    return [{ ...queryParameter(name, taken, text), ...(deprecated && { deprecated }) }]
  })
}

function queryParameter(name: string, schema: Json, description: string): Json {
  return { name, in: 'query', required: false, description, schema }
}

export const idempotencyKey = {
  ...queryParameter(
    'Idempotency-Key',
    { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    'Does the request once, however often it comes with this key within 24 hours. A repeat gets the row as it reads now.',
  ),
  in: 'header',
}

export const dryRun = queryParameter(
  'dry_run',
  { type: 'boolean' },
  'Whether to answer without writing anything. Default `false`.',
)

export const withHidden = queryParameter(
  'hidden',
  { type: 'boolean' },
  'Whether to answer the event types too that only operators see. Default `false`.',
)

export const dumpFormat = queryParameter(
  'format',
  { type: 'string', enum: ['json', 'yaml'] },
  'Form of the document, whatever `Accept` says. Default: what `Accept` prefers, else YAML.',
)

export const shownSecrets = queryParameter(
  'secrets',
  { type: 'string', enum: shownAs },
  'How secrets are shown. Default: masked where secrets are sealed at rest, else clear.',
)

export const explainedLimit = queryParameter(
  'limit',
  { type: 'integer', minimum: 1, maximum: 1000 },
  'Most endpoints of the answer. Default: all of the workspace.',
)

export const explainedAfter = queryParameter(
  'after',
  { type: 'string' },
  'Only endpoints with ids beyond this one: the last `endpoint_id` of the page before. Empty: all.',
)

export const retriedEndpoint = {
  ...queryParameter('endpoint_id', { type: 'string', minLength: 1 }, 'Id of the endpoint that the event is sent to.'),
  required: true,
}

export function pathParameter(name: string): Json {
  const description = name === 'ws_id' ? 'Id or name of the workspace.' : 'Id of the row.'
  return { name, in: 'path', required: true, description, schema: { type: 'string', minLength: 1 } }
}
