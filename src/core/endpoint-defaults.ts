import { isPlainObject } from '../schema/fields.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import type { RateLimit } from '../schema/shared.ts'

/** What a host lets endpoints have that say nothing else. */
export interface EndpointDefaults {
  readonly retry?: Endpoint['retry'] | undefined
  readonly timeout?: number | undefined
  readonly rate_limit?: RateLimit | undefined
}

/**
 * The input of an endpoint in which the defaults of the host stand for what is missing, and for null where null means the
 * default. What is no endpoint stays as it is, for the schema to refuse.
 */
export function withEndpointDefaults(input: unknown, { retry, timeout, rate_limit }: EndpointDefaults): unknown {
  const isNothing = retry === undefined && timeout === undefined && rate_limit === undefined
  if (isNothing || !isPlainObject(input)) return input
  const { request } = input
  return {
    ...input,
    ...(retry !== undefined && { retry: withRetry(input['retry'], retry) }),
    ...(timeout !== undefined &&
      isPlainObject(request) && { request: { ...request, timeout: request['timeout'] ?? timeout } }),
    ...(rate_limit !== undefined && input['rate_limit'] === undefined && { rate_limit }),
  }
}

function withRetry(given: unknown, { strategy, config }: Endpoint['retry']): unknown {
  if ((given ?? null) === null) return { strategy, config }
  if (!isPlainObject(given)) return given
  const own = given['config'] ?? {}
  return isPlainObject(own) ? { ...given, config: { ...config, ...withoutNothing(own) } } : given
}

function withoutNothing(object: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => (value ?? null) !== null))
}
