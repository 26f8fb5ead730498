import type { Settings } from '../settings.ts'

type Rules = Pick<Settings['admin'], 'allowedOrigins' | 'allowedHosts' | 'publicUrl'>

/**
 * Whether a request may be what a page of somebody else made a browser send, or reaches us under a name that is not ours
 * (DNS rebinding). A program sends neither `Sec-Fetch-Site` nor `Origin`, and passes.
 */
export function isForeign({ headers, url }: Request, { allowedOrigins, allowedHosts, publicUrl }: Rules): boolean {
  const host = headers.get('host') ?? new URL(url).host
  if (allowedHosts !== undefined && !allowedHosts.some((allowed) => isHost(host, allowed))) return true
  const origin = headers.get('origin')
  if (origin !== null && allowedOrigins.includes(origin.toLowerCase())) return false
  // Whoever reads this header trusts no other: no page can set it.
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  if (origin === null) return false
  return ![host, ...(publicUrl === undefined ? [] : [new URL(publicUrl).host])].some((own) => isOf(origin, own))
}

/** Whether an allowed host is this host: a name without a port stands for all ports of that host. */
function isHost(host: string, allowed: string): boolean {
  const name = host.toLowerCase()
  return name === allowed.toLowerCase() || name.replace(/:\d+$/, '') === allowed.toLowerCase()
}

/** Whether an origin has this host and port. The scheme is ignored, since TLS often ends before us. */
function isOf(origin: string, host: string): boolean {
  try {
    const { protocol, host: own } = new URL(origin)
    // Read under the same scheme, so that a default port counts as none.
    return /^https?:$/.test(protocol) && own === new URL(`${protocol}//${host}`).host
  } catch {
    return false
  }
}
