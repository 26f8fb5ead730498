import type { Posthorn } from 'posthorn'
import { dashboard } from 'posthorn/dashboard'
import { type Portal, portal } from 'posthorn/portal'

import type { CodeOptions } from './read-settings.ts'
import type { Settings } from './settings.ts'
import { requireSignIn } from './token.ts'

interface Handler {
  fetch(request: Request): Promise<Response>
}

const dashboardPath = '/dashboard'
const portalPath = '/portal'

/** What the admin port serves: the administrative API, the dashboard, and the portal where it has a secret. */
export function adminFace(posthorn: Posthorn, settings: Settings, code: CodeOptions): Handler {
  const mounts: [path: string, handler: Handler][] = [[dashboardPath, dashboardOf(posthorn, settings, code)]]
  // Customers have no token of the administrative API: the portal judges requests by the tokens of its sessions.
  if (settings.portalSecret !== undefined) mounts.push([portalPath, portalOf(posthorn, settings, code)])
  return {
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const [, page] = mounts.find(([path]) => pathname === path || pathname.startsWith(`${path}/`)) ?? []
      return await (page ?? posthorn.admin).fetch(request)
    },
  }
}

/** Browsers cannot send a bearer token: they ask for it as a password. */
function dashboardOf(posthorn: Posthorn, { adminToken }: Settings, code: CodeOptions): Handler {
  const authorize = code.authorize ?? (adminToken === undefined ? () => true : requireSignIn(adminToken))
  return dashboard(posthorn, { basePath: dashboardPath, authorize })
}

/** The portal as every process with these settings makes it. Links of the portal begin with `origin`. */
export function portalOf(
  posthorn: Posthorn,
  { portalSecret }: Pick<Settings, 'portalSecret'>,
  code: CodeOptions,
  origin = '',
): Portal {
  const secret = (portalSecret ?? []) as [string, string] // portal() refuses other lengths
  return portal(posthorn, { ...code.portal, basePath: portalPath, secret, origin })
}
