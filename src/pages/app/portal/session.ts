import type { Scope } from '../kit/scope.ts'

/** What the session says of itself. */
export interface Session {
  readonly workspace: { readonly name: string | null }
  readonly read_only: boolean
  readonly expires_at: number
  readonly allow: Readonly<
    Record<'create' | 'edit' | 'delete' | 'headers' | 'secret' | 'rotate' | 'test' | 'replay', boolean>
  >
  readonly limits: { readonly endpoints: number | null }
  readonly return_url: string | null
}

/** An endpoint as the customer sees it. */
export interface PortalEndpoint {
  readonly id: string
  readonly url: string
  readonly description: string | null
  readonly events: readonly string[]
  readonly headers: Readonly<Record<string, string>> | null
  readonly enabled: boolean
  readonly paused: boolean
  readonly disabled_at: number | null
  readonly disabled_reason: 'manual' | 'gone' | 'breaker' | 'failing' | null
  readonly disabled_detail: string | null
  readonly created_at: number
  readonly updated_at: number
}

export function scopeOf({ allow }: Session): Scope {
  const { replay, test, secret, rotate } = allow
  return { api: '/api/v1', path: '', may: { replay, test, secret, rotate } }
}
