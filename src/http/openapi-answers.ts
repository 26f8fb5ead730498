import { responseClasses } from '../core/counts.ts'
import { attemptStatuses, triggerModes } from '../schema/attempt.ts'
import { deliveryStatuses } from '../schema/delivery.ts'
import { type Json, orNull, type Properties } from './openapi-inputs.ts'

// What the API answers and takes from nobody. Every property has a description; the test of the document looks for it.

const text = (description: string): Json => ({ type: 'string', description })
const flag = (description: string): Json => ({ type: 'boolean', description })
const oneOf = (values: readonly string[], description: string): Json => ({ type: 'string', enum: values, description })
const count = (description: string): Json => ({ type: 'integer', format: 'int64', minimum: 0, description })
const share = (description: string): Json => ({ type: 'number', minimum: 0, maximum: 1, description })
const moment = (what: string): Json => ({
  type: 'integer',
  format: 'int64',
  description: `${what}, unix milliseconds.`,
})
const object = (properties: Properties, optional: readonly string[] = []): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

const headers = (whose: string): Json =>
  orNull({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: `Headers of the ${whose}, names in lower case. Null in a list. Secret ones are \`***\`.`,
  })
const body = (whose: string): Json => orNull(text(`Body of the ${whose}, cut where it is long. Null in a list.`))

const attempt = object({
  id: text('Id of the attempt.'),
  event_id: text('Id of the event.'),
  endpoint_id: text('Id of the endpoint.'),
  status: oneOf(attemptStatuses, 'INIT and QUEUED are open; the others are final.'),
  attempt_number: count('Number of the try, from 1.'),
  scheduled_at: moment('When the attempt is due'),
  attempted_at: orNull(moment('When the request was sent; null where none was')),
  trigger_mode: oneOf(
    triggerModes,
    'INITIAL: made with its event. AUTOMATIC: follows a failed attempt. MANUAL: somebody asked for it. TEST: a test delivery.',
  ),
  exhausted: flag('Whether the attempt failed and no other follows.'),
  error_code: orNull(text('Why the attempt has no answer, such as `TIMEOUT`; null where there is an answer.')),
  error_message: orNull(text('The same for a person.')),
  request: orNull({
    ...object({
      method: text('Method of the request.'),
      url: text('URL of the request.'),
      headers: headers('request'),
      body: body('request'),
    }),
    description: 'The request that was sent; null where none was.',
  }),
  response: orNull({
    ...object({
      status: { type: 'integer', minimum: 100, maximum: 599, description: 'HTTP status of the answer.' },
      latency: count('Time from the request to the end of the answer, milliseconds.'),
      headers: headers('answer'),
      body: body('answer'),
    }),
    description: 'The answer that came; null where none did.',
  }),
  created_at: moment('When the attempt was made'),
  updated_at: moment('When the attempt last changed'),
  event_type: text('Type of the event.'),
  final: flag('Whether the attempt has ended and no automatic try follows.'),
})

const deliveryRow = {
  event_id: text('Id of the event.'),
  endpoint_id: text('Id of the endpoint.'),
  event_type: text('Type of the event.'),
  unique_id: orNull(text('The `unique_id` of the event.')),
  status: oneOf(
    deliveryStatuses,
    'DELIVERED once any attempt succeeded. Else the newest attempt decides: PENDING and RETRYING are open, FAILED and CANCELED have ended.',
  ),
  tries: count('How many requests were sent.'),
  created_at: moment('When the event was made'),
  last_attempted_at: orNull(moment('When the last request was sent; null where none was')),
  next_attempt_at: orNull(moment('When the open attempt is due that comes first; null where none is open')),
  last: orNull({
    ...object({
      attempt_id: text('Id of the attempt.'),
      status: oneOf(['SUCCESSFUL', 'FAILED', 'CANCELED'], 'How the attempt ended.'),
      response_status: orNull(count('HTTP status of the answer; null where there is none.')),
      error_code: orNull(text('Why the attempt has no answer; null where there is an answer.')),
      error_message: orNull(text('The same for a person.')),
      latency: orNull(count('Time from the request to the end of the answer, milliseconds.')),
    }),
    description: 'The newest attempt that has ended; null where none has.',
  }),
}

const explanation = object({
  endpoint_id: text('Id of the endpoint.'),
  endpoint_name: orNull(text('Name of the endpoint.')),
  matched: flag('Whether the endpoint gets the event.'),
  reason: text('Why, as one sentence.'),
  attempts: {
    type: 'array',
    items: { $ref: '#/components/schemas/Attempt' },
    description: 'The newest 20 attempts of the event at this endpoint, in order.',
  },
  next_due_at: orNull(moment('When the open attempt is next due; null where none is open')),
  tries: count('How many attempts of the event at this endpoint there are.'),
})

const counts = (kind: string): Json => ({
  ...object({
    created: count(`How many ${kind} were created.`),
    updated: count(`How many ${kind} were changed.`),
    deleted: count(`How many ${kind} were deleted.`),
    unchanged: count(`How many ${kind} were as the document says.`),
  }),
  description: `What became of ${kind}.`,
})

const latency = (share: string): Json =>
  orNull(count(`The latency within which ${share} of the tries ended, milliseconds; null without a try.`))

const buckets = (what: string): Json => ({
  type: 'array',
  items: object({
    time: moment('When the bucket begins'),
    succeeded: count('Attempts that succeeded.'),
    failed: count('Attempts that failed, those that were tried again included.'),
    exhausted: count('Failed attempts that nothing followed.'),
    canceled: count('Attempts that were canceled.'),
    p50: latency('half'),
    p95: latency('95 percent'),
    p99: latency('99 percent'),
    by_class: {
      ...object(
        Object.fromEntries(
          responseClasses.map((name) => [
            name,
            count(name === 'none' ? 'Tries that got no answer.' : `Tries that were answered with a status of ${name}.`),
          ]),
        ),
      ),
      description: 'Tries by the class of the answer.',
    },
  }),
  description: what,
})

const statsReport = object(
  {
    data: buckets('Buckets in order of time, empty ones included.'),
    groups: {
      type: 'array',
      items: object({
        group: text('Id or event type of the group; `*` for all groups that are not named.'),
        data: buckets('The buckets of the group.'),
      }),
      description: 'The same by group, the largest first. There with `group_by`.',
    },
  },
  ['groups'],
)
/** The body of an error. */
const refusal: Properties = {
  message: text('What is wrong.'),
  error: {
    ...object(
      {
        message: text('What was refused.'),
        fields: {
          type: 'object',
          additionalProperties: true,
          description: 'The first hundred reasons, each at its place in the body or under `@params`.',
        },
      },
      ['fields'],
    ),
    description:
      'The reasons, where a body or parameters were refused place by place. A further property `...` tells how many reasons are left out: `900 more`.',
  },
}

export const answers: Properties = {
  Attempt: attempt,
  Explanation: explanation,
  PublishAnswer: object(
    {
      event: { $ref: '#/components/schemas/Event' },
      created: flag('True when the event was stored now; false when its `unique_id` was seen before.'),
      error: {
        ...object(
          {
            status: {
              type: 'integer',
              minimum: 400,
              maximum: 599,
              description: 'HTTP status that stands for the error.',
            },
            ...refusal,
          },
          ['error'],
        ),
        description: 'Why the event was refused. An entry has either `event` and `created`, or `error`.',
      },
    },
    ['event', 'created', 'error'],
  ),
  Delivery: object(deliveryRow),
  DeliveryDetails: object({
    ...deliveryRow,
    attempts: {
      type: 'array',
      items: { $ref: '#/components/schemas/Attempt' },
      description: 'All attempts, the oldest first. Headers and bodies are null.',
    },
  }),
  EndpointSecret: object({
    secret: text('The secret that signs deliveries, in clear: the newest.'),
    secrets: {
      type: 'array',
      items: object({
        secret: text('A secret that signs, in clear.'),
        expires_at: orNull(moment('When this secret ends; null where it stays')),
      }),
      description: 'All secrets that sign deliveries, the newest first.',
    },
  }),
  StatsReport: statsReport,
  EndpointHealth: object({
    endpoint_id: text('Id of the endpoint.'),
    enabled: flag('Whether events are sent to this endpoint.'),
    last_success_at: orNull(moment('When a try succeeded last; null where none did')),
    last_failure: orNull({
      ...object({
        at: moment('When the try failed'),
        attempt_id: orNull(text('Id of the attempt.')),
        error_code: orNull(text('Why the attempt has no answer; null where there is an answer.')),
        reason: orNull(text('The same for a person; null where the attempt was removed meanwhile.')),
      }),
      description: 'The try that failed last; null where none did.',
    }),
    consecutive_failures: count('Tries that failed since the last success.'),
    due_now: orNull(count('Deliveries that are due and wait; null where the queue cannot tell.')),
    success_rate_1h: orNull(share('Successes among the tries of the last 60 minutes; null without a try.')),
    success_rate_24h: orNull(share('Successes among the tries of the last 24 hours, whole hours; null without a try.')),
    paused_until: orNull(moment('Until when nothing is sent to the endpoint; null where it is not paused')),
    suspect: flag('Whether the last try got no answer: such an endpoint is sent a single request at a time.'),
  }),
  SourceRequests: object({
    data: {
      type: 'array',
      items: object({
        at: moment('When the request was answered'),
        method: text('Method of the request.'),
        status: { type: 'integer', minimum: 100, maximum: 599, description: 'HTTP status of the answer.' },
        latency: count('Time until the answer, milliseconds.'),
        event_id: orNull(
          text('Id of the event that was made; null where none was made, or where it is not known yet.'),
        ),
        reason: orNull(text('What the answer says of why it refused, in one line; null where it refused nothing.')),
        body: orNull(
          text(
            'Body as text, as far as the option `gateway.captureBytes` goes; null where that is 0, or none was read.',
          ),
        ),
      }),
      description: 'The requests, newest first, at most 50.',
    },
  }),
  Process: object({
    id: text('Id of the process, made anew at each start.'),
    version: text('Version of Posthorn.'),
    runtime: text('Runtime and its version, such as `node v22.1.0`.'),
    started_at: moment('When the process started'),
    seen_at: moment('When the process told how it does'),
    in_flight: count('Requests to endpoints in flight.'),
    sent: count('Requests sent to endpoints since the start.'),
  }),
  EventType: object({
    event_type: text('Type of the event.'),
    description: orNull(text('What the event means.')),
    group: orNull(text('Heading under which the event type is listed.')),
    deprecated: flag('Whether endpoints had better not begin to use the event type.'),
    hidden: flag('Whether only operators see the event type.'),
    example: { description: 'Data of such an event: any JSON value; null where there is none.' },
    schema: orNull({
      type: 'object',
      additionalProperties: true,
      description: 'JSON Schema of the data; null where the schema tells none.',
    }),
    volume_24h: count('Attempts of such events in the workspace that ended in the last 24 hours, whole hours.'),
  }),
  ReplayReport: object({
    matched: count('How many deliveries the filter found.'),
    created: count('How many attempts were made. 0 in a dry run.'),
    next: orNull(text('Where the next call goes on, given as `after`; null where nothing is left.')),
  }),
  EraseReport: object({
    erased: count('How many events went.'),
    more: flag('Whether `limit` ended the call. The same call goes on.'),
  }),
  SyncReport: object(
    {
      endpoints: counts('endpoints'),
      sources: counts('sources'),
      plugins: counts('plugins'),
      warnings: {
        type: 'array',
        items: { type: 'string' },
        description: 'What the sync left out of the document, the first hundred of it.',
      },
    },
    ['warnings'],
  ),
  Version: object({ version: text('Version of Posthorn.'), message: text('A greeting.') }),
  Refusal: {
    ...object(refusal, ['error']),
    description: 'Why a request was not done.',
    examples: [
      { message: 'Not found' },
      {
        message: 'Request Validation',
        error: { message: 'request validation', fields: { request: { url: 'required field missing' } } },
      },
    ],
  },
}

/** One page, whichever way the list is paged. */
export function pageSchema(row: Json): Json {
  const uri = (which: string) =>
    orNull(
      text(
        `Path and query of the ${which} page; null where there is none. There with \`limit\`, \`after\` or \`before\`.`,
      ),
    )
  return {
    type: 'object',
    properties: {
      data: { type: 'array', items: row, description: 'The rows.' },
      total: count('How many rows match, on all pages. There without `limit`, `after` and `before`.'),
      next: uri('next'),
      prev: uri('previous'),
    },
    required: ['data'],
  }
}
