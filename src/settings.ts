import * as v from 'valibot'

import type { Proxy } from './contracts/platform.ts'
import { type FieldError, PosthornError } from './errors.ts'
import type { AdminOptions, Options, SecretsOptions } from './options.ts'
import { retry, timeout, urlProblem } from './schema/endpoint.ts'
import { eventType } from './schema/event.ts'
import {
  anyObject,
  closedObject,
  flag,
  integer,
  isPlainObject,
  list,
  number,
  object,
  oneOf,
  text,
  withDefault,
} from './schema/fields.ts'
import { check } from './schema/parse.ts'
import { secretsOptions } from './schema/secrets.ts'
import { rateLimit } from './schema/shared.ts'
import { version } from './version.ts'

/** What an entry of the catalogue says beside the schema. */
const entryTexts = object({
  description: v.optional(text({ max: 4096 })),
  group: v.optional(text({ max: 255 })),
  deprecated: v.optional(flag()),
  hidden: v.optional(flag()),
})
const basePath = withDefault(
  text({
    rule: (value) =>
      value === '' || /^\/.*[^/]$/.test(value) ? null : 'value must start with "/" and not end with it',
  }),
  '',
)
const origin = v.pipe(
  text({
    rule: (value) => {
      const canonical = URL.canParse(value) ? new URL(value).origin : null
      return canonical === value.toLowerCase() ? null : 'value must be an origin such as https://example.com'
    },
  }),
  v.transform((value) => value.toLowerCase()),
)
const proxyUrl = text({
  rule: (value) => (/^https?:\/\//.test(value) && URL.canParse(value) ? null : 'value must be an http or https URL'),
})
const pem = text({ min: 1 })
const proxy = closedObject({
  url: proxyUrl,
  tls: v.optional(
    closedObject({
      ca: v.optional(v.lazy((input) => (Array.isArray(input) ? list(pem, { min: 1 }) : pem))),
      cert: v.optional(pem),
      key: v.optional(pem),
      rejectUnauthorized: v.optional(flag()),
    }),
  ),
})
const count = (value: number) => withDefault(integer({ min: 1 }), value)
const days = v.optional(v.pipe(v.number(), v.minValue(0)))

/** All defaults. */
const settings = closedObject({
  admin: withDefault(
    closedObject({
      basePath,
      maxBodyBytes: count(16 * 1024 * 1024),
      authorize: v.optional(v.function()),
      allowedOrigins: withDefault(list(origin), []),
      publicUrl: v.optional(text({ rule: urlProblem })),
      allowedHosts: v.optional(list(text({ min: 1 }))),
      openapi: v.optional(
        closedObject({
          security: v.optional(list(anyObject())),
          securitySchemes: v.optional(anyObject()),
          info: v.optional(anyObject()),
        }),
      ),
    }),
    {},
  ),
  gateway: withDefault(
    closedObject({
      basePath,
      maxBodyBytes: count(1024 * 1024),
      maxPending: count(10_000),
      bodyTimeoutMs: count(30_000),
      captureBytes: withDefault(integer({ min: 0, max: 65_536 }), 0),
    }),
    {},
  ),
  deliver: withDefault(
    closedObject({
      concurrency: count(256),
      perEndpoint: count(16),
      timeoutMs: withDefault(integer({ min: 1, max: 600_000 }), 60_000),
      captureBytes: withDefault(integer({ min: 0 }), 65_536),
      redactHeaders: withDefault(list(text({ min: 1 })), [
        'authorization',
        'cookie',
        'proxy-authorization',
        'x-api-key',
      ]),
      secretHeaders: v.optional(list(text({ min: 1 }))),
      deny: withDefault(list(text({ min: 1 })), ['@default']),
      allow: withDefault(list(text({ min: 1 })), []),
      httpsOnly: withDefault(flag(), false),
      proxy: v.optional(v.lazy((input) => (typeof input === 'string' ? proxyUrl : proxy))),
      userAgent: withDefault(text({ min: 1 }), `Posthorn/${version}`),
      sign: withDefault(oneOf(['none', 'standard-webhooks']), 'none'),
      defaults: withDefault(
        closedObject({ retry: v.optional(retry), timeout: v.optional(timeout), rate_limit: v.optional(rateLimit) }),
        {},
      ),
      disableAfterDays: v.optional(number({ min: 1, max: 365 })),
    }),
    {},
  ),
  limits: withDefault(
    closedObject({
      endpoints: count(10_000),
      sources: count(10_000),
      plugins: count(10_000),
      bytes: count(32 * 1024 * 1024),
    }),
    {},
  ),
  retention: withDefault(
    closedObject({
      eventsDays: days,
      attemptsDays: days,
      statsDays: withDefault(v.pipe(v.number(), v.minValue(1)), 400),
    }),
    {},
  ),
  operations: v.optional(closedObject({ workspace: text({ min: 1, max: 512 }) })),
  secrets: v.optional(secretsOptions),
  breaker: v.optional(
    closedObject({
      windowSeconds: withDefault(integer({ min: 60, max: 604_800 }), 3600),
      failurePercent: withDefault(integer({ min: 1, max: 100 }), 80),
      minimum: count(100),
    }),
  ),
  strictEvents: withDefault(flag(), false),
  requireTransaction: withDefault(flag(), true),
  compatible: v.optional(oneOf(['webhookx'])),
})

/** The part of the options that are plain values, complete. */
export type Settings = Omit<v.InferOutput<typeof settings>, 'admin' | 'deliver' | 'secrets'> & {
  readonly secrets?: SecretsOptions
  readonly admin: Omit<v.InferOutput<typeof settings>['admin'], 'authorize' | 'openapi'> &
    Pick<AdminOptions, 'authorize' | 'openapi'>
  readonly deliver: Omit<v.InferOutput<typeof settings>['deliver'], 'proxy'> & { readonly proxy?: Proxy }
}

/** @throws PosthornError `validation` that names every option at fault. */
export function parseSettings(options: Options): Settings {
  const { storage, queue, inbox, limiter, clock, http, logger, telemetry, plugins, events = {}, ...plain } = options
  const unusable = Object.keys(events).find((type) => !check(eventType, type).ok || !isEntry(events[type]))
  if (unusable !== undefined) {
    throw new PosthornError(
      'validation',
      `createPosthorn: events: '${unusable}' is no event type with a Standard Schema`,
    )
  }
  const result = check(settings, plain)
  if (result.ok) return result.value as Settings // authorize is a function and openapi holds objects, which is all that a schema can tell
  throw new PosthornError('validation', `createPosthorn: ${reasonsOf(result.fields, '').join('; ')}`)
}

/** `deliver.timeoutMs: number must be at least 1`, for each reason of a tree. */
function reasonsOf(error: FieldError, place: string): readonly string[] {
  if (typeof error === 'string') return [`${place}: ${error}`]
  return Object.entries(error ?? {}).flatMap(([key, inner]) => reasonsOf(inner, place === '' ? key : `${place}.${key}`))
}

/** A schema, or an entry with a schema. */
function isEntry(value: unknown): boolean {
  return isSchema(value) || (isPlainObject(value) && isSchema(value['schema']) && check(entryTexts, value).ok)
}

function isSchema(value: unknown): boolean {
  const schema = value as { readonly '~standard'?: { readonly validate?: unknown } } | null | undefined
  return typeof schema?.['~standard']?.validate === 'function'
}
