import { createAdminClient } from '../client.ts'
import { PosthornError } from '../errors.ts'
import type { ServiceFunctions } from '../surface/functions.ts'
import type { CursorPage } from '../schema/page.ts'
import type { PortalEndpoint, PortalEndpointInput } from './portal/endpoints.ts'
import type { PortalAllowances } from './portal/options.ts'

// The portal's API for those who draw a page of their own.

export { type ErrorBody, type ErrorCode, type FieldErrors, PosthornError } from '../errors.ts'
export type { PortalEndpoint, PortalEndpointInput } from './portal/endpoints.ts'
export type { PortalAllowances } from './portal/options.ts'

export interface PortalClientOptions {
  /** Where the portal is mounted: `https://app.example/webhooks`. */
  readonly baseUrl: string
  /** The token of a session. */
  readonly token: string
  /** Makes the requests. Default: the runtime's `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** What the session says of itself. */
export interface PortalSessionReport {
  /** The customer's workspace. */
  readonly workspace: { readonly name: string | null }
  /** Whether the session may look, and change nothing. */
  readonly read_only: boolean
  /** Unix milliseconds. */
  readonly expires_at: number
  /** What the session may do. */
  readonly allow: PortalAllowances
  /** The most endpoints; null where the host says none. */
  readonly limits: { readonly endpoints: number | null }
  /** Where the page leads back to; null where the host said nothing. */
  readonly return_url: string | null
}

/** A function of the workspace that the session names. */
type Bound<Call> = Call extends (workspace: string, ...rest: infer Rest) => infer Answer
  ? (...rest: Rest) => Answer
  : never

type Endpoints = ServiceFunctions['endpoints']

/** What a customer may ask. Functions throw `PosthornError`; those that the host does not offer throw `forbidden`. */
export interface PortalClient {
  /** What the token opens. @throws PosthornError forbidden (expired, revoked, or none of ours), unavailable */
  session(): Promise<PortalSessionReport>
  /** Where the customer's deliveries go. */
  readonly endpoints: {
    /** Lists endpoints, the newest first: 20 a page, or `limit` (1 to 1000). */
    list(query?: { readonly limit?: number; readonly after?: string }): Promise<CursorPage<PortalEndpoint>>
    /** Reads one endpoint. @throws PosthornError not_found */
    get(id: string): Promise<PortalEndpoint>
    /** Adds an endpoint, which signs its deliveries. @throws PosthornError validation, forbidden */
    create(input: PortalEndpointInput): Promise<PortalEndpoint>
    /** Changes the members that are given. @throws PosthornError not_found, validation, forbidden */
    patch(id: string, input: Partial<PortalEndpointInput>): Promise<PortalEndpoint>
    /** Deletes an endpoint. Unknown ids are fine. @throws PosthornError forbidden */
    delete(id: string): Promise<void>
    /** As `posthorn.endpoints` has them. */
    readonly health: Bound<Endpoints['health']>
    readonly test: Bound<Endpoints['test']>
    readonly secret: Bound<Endpoints['secret']>
    readonly rotateSecret: Bound<Endpoints['rotateSecret']>
  }
  /** What was published for the customer. */
  readonly events: {
    readonly get: Bound<ServiceFunctions['events']['get']>
    readonly replay: Bound<ServiceFunctions['events']['replay']>
  }
  /** All attempts of an event to an endpoint as one row. */
  readonly deliveries: {
    readonly list: Bound<ServiceFunctions['deliveries']['list']>
    readonly get: Bound<ServiceFunctions['deliveries']['get']>
    readonly retry: Bound<ServiceFunctions['deliveries']['retry']>
  }
  /** Tries to deliver an event to an endpoint. */
  readonly attempts: {
    readonly list: Bound<ServiceFunctions['attempts']['list']>
    readonly get: Bound<ServiceFunctions['attempts']['get']>
  }
  /** The attempts that ended, counted by time. */
  readonly stats: Bound<ServiceFunctions['stats']>
  /** The event types that the host publishes. */
  readonly eventTypes: { list(): ReturnType<ServiceFunctions['eventTypes']['list']> }
}

/** Stands in paths for the workspace, which the token names. */
const own = '-'

/**
 * Makes a client of the portal's API.
 *
 * @example
 * const client = createPortalClient({ baseUrl: 'https://app.example/webhooks', token })
 * const { data } = await client.endpoints.list()
 */
export function createPortalClient({ baseUrl, token, fetch: send = fetch }: PortalClientOptions): PortalClient {
  const base = `${baseUrl.replace(/\/+$/, '')}/api/v1`
  const headers = { authorization: `Bearer ${token}` }
  const client = createAdminClient({
    baseUrl: base,
    headers,
    fetch: (url, init) => send(url.replace(`${base}/workspaces/${own}`, base), init),
  })
  const { endpoints, events, deliveries, attempts, stats, eventTypes } = client
  return {
    async session() {
      const answer = await send(`${base}/session`, { headers })
      if (answer.ok) return (await answer.json()) as PortalSessionReport
      throw new PosthornError(answer.status === 401 ? 'forbidden' : 'unavailable', 'the session is not open')
    },
    // Rows of endpoints have a form of their own here.
    endpoints: {
      ...(bound(endpoints, ['get', 'create', 'patch', 'delete', 'health', 'test', 'secret', 'rotateSecret']) as object),
      list: (query = {}) =>
        endpoints.list(own, { limit: 20, ...query }) as unknown as Promise<CursorPage<PortalEndpoint>>,
    } as PortalClient['endpoints'],
    events: bound(events, ['get', 'replay']),
    deliveries: bound(deliveries, ['list', 'get', 'retry']),
    attempts: bound(attempts, ['list', 'get']),
    stats: (query) => stats(own, query),
    eventTypes: { list: () => eventTypes.list(own) },
  }
}

/** Functions without their first argument. */
function bound<Calls extends object, Name extends keyof Calls>(
  calls: Calls,
  names: readonly Name[],
): { readonly [Each in Name]: Bound<Calls[Each]> } {
  type Call = (workspace: string, ...rest: unknown[]) => unknown
  const entries = names.map((name) => [name, (...rest: unknown[]) => (calls[name] as Call)(own, ...rest)])
  return Object.fromEntries(entries) as { readonly [Each in Name]: Bound<Calls[Each]> } // a function for each name
}
