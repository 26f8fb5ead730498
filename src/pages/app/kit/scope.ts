/** Whose rows a view shows: where they are asked for, and where their views are. */
export interface Scope {
  /** Of the API: `/api/workspaces/acme`, or `/api/v1` of the portal. */
  readonly api: string
  /** Of the pages: `/w/acme`, or nothing. */
  readonly path: string
  /** What the reader may do. */
  readonly may: { readonly replay: boolean; readonly test: boolean; readonly secret: boolean; readonly rotate: boolean }
}

/** An endpoint as far as both pages know it. */
export interface AnyEndpoint {
  readonly id: string
  readonly name?: string | null
  readonly description: string | null
  readonly url?: string
  readonly request?: { readonly url: string }
  readonly enabled: boolean
  readonly paused: boolean
}

export function urlOf({ url, request }: AnyEndpoint): string {
  return url ?? request?.url ?? ''
}

/** What an endpoint is called: its name, else the host and path of its url. */
export function nameOf(endpoint: AnyEndpoint): string {
  const given = endpoint.name ?? endpoint.description
  return given !== null && given !== '' ? given : urlOf(endpoint).replace(/^https?:\/\//, '')
}
