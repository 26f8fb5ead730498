import type { DisabledReason, Endpoint } from '../schema/endpoint.ts'

/**
 * The members of an endpoint that only Posthorn writes. The id and the times, which Posthorn writes too, are not among
 * them.
 */
export type Disabling = Pick<Endpoint, 'disabled_at' | 'disabled_reason' | 'disabled_detail'>

/** What a version before wrote: later members may be missing. */
type Written = Omit<Endpoint, keyof Disabling | 'paused' | 'retry'> &
  Partial<Pick<Endpoint, keyof Disabling | 'paused'>> & {
    readonly retry: Omit<Endpoint['retry'], 'config'> & {
      readonly config: { readonly attempts: readonly number[]; readonly jitter?: number }
    }
  }

const isOn: Disabling = { disabled_at: null, disabled_reason: null, disabled_detail: null }

/** An endpoint with all members, as this version wrote it or a version before. Members of a later version get their defaults. */
export function endpointRow(row: Written): Endpoint {
  const isWhole =
    row.disabled_at !== undefined &&
    row.disabled_reason !== undefined &&
    row.disabled_detail !== undefined &&
    row.paused !== undefined &&
    row.retry.config.jitter !== undefined
  // A read of thousands of rows would else spend half of its time on copies.
  return isWhole ? (row as Endpoint) : completed(row)
}

/** The same in the order in which members are answered. */
function completed({
  disabled_at = null,
  disabled_reason = null,
  disabled_detail = null,
  paused = false,
  ...row
}: Written): Endpoint {
  const { strategy, config } = row.retry
  const retry = { strategy, config: { ...config, jitter: config.jitter ?? 0 } }
  // In an object, a key that exists already stays in place.
  return { ...row, retry, disabled_at, disabled_reason, disabled_detail, paused }
}

/** The row that a write of configuration stores: who turns an endpoint off by a write does so by hand. */
export function writtenEndpoint(row: Omit<Endpoint, keyof Disabling>, before: Endpoint | null): Endpoint {
  return completed({ ...row, ...disablingOf(row, before) })
}

function disablingOf(
  { enabled, updated_at }: Pick<Endpoint, 'enabled' | 'updated_at'>,
  before: Endpoint | null,
): Disabling {
  if (enabled) return isOn
  if (before !== null && !before.enabled) {
    const { disabled_at, disabled_reason, disabled_detail } = before
    return { disabled_at, disabled_reason, disabled_detail }
  }
  return {
    disabled_at: updated_at,
    disabled_reason: 'manual',
    disabled_detail: 'A write of its configuration turned the endpoint off.',
  }
}

/** An endpoint that Posthorn turns off. `detail`: a sentence for a person. */
export function disabledEndpoint(row: Endpoint, at: number, reason: DisabledReason, detail: string): Endpoint {
  return {
    ...row,
    enabled: false,
    updated_at: at,
    disabled_at: at,
    disabled_reason: reason,
    disabled_detail: detail,
  }
}

/** Whether the attempts of an endpoint wait. Those of an endpoint that is off are canceled, paused or not. */
export function isHeld({ enabled, paused }: Pick<Endpoint, 'enabled' | 'paused'>): boolean {
  return enabled && paused
}
