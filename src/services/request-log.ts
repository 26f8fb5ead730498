import type { RequestLog, SourceTenant } from '../contracts/request-log.ts'
import { EvenlyKept } from '../core/evenly-kept.ts'
import type { SourceRequest } from '../schema/instance.ts'

/** The most requests that are held of a source. */
const maxRequests = 50
/** The most sources whose requests are held. Of the workspace with the most of them the one used longest ago goes. */
const maxSources = 1000

/** `took` is called for each request. */
export function requestLog(took: (tenant: SourceTenant, request: SourceRequest) => void): RequestLog {
  const kept = new EvenlyKept<SourceRequest[]>(maxSources)
  return {
    add(tenant, request) {
      took(tenant, request)
      const { workspaceId, sourceId } = tenant
      const requests = kept.get(workspaceId, sourceId) ?? []
      if (requests.push(request) > maxRequests) requests.shift()
      kept.set(workspaceId, sourceId, requests) // now the source used last
    },
    of: ({ workspaceId, sourceId }) => (kept.get(workspaceId, sourceId) ?? []).toReversed(),
  }
}
