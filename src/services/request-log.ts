import type { RequestLog, SourceTenant } from '../contracts/request-log.ts'
import type { SourceRequest } from '../schema/instance.ts'

/** The most requests that are held of a source. */
const maxRequests = 50
/** The most sources whose requests are held; sources with the newest last request stay. */
const maxSources = 1000

/** `took` is called for each request. */
export function requestLog(took: (tenant: SourceTenant, request: SourceRequest) => void): RequestLog {
  const bySource = new Map<string, SourceRequest[]>()
  return {
    add(tenant, request) {
      took(tenant, request)
      const { sourceId } = tenant
      const requests = bySource.get(sourceId) ?? []
      bySource.delete(sourceId)
      bySource.set(sourceId, requests) // now the source used last
      if (requests.push(request) > maxRequests) requests.shift()
      if (bySource.size <= maxSources) return
      const [oldest] = bySource.keys()
      bySource.delete(oldest!) // the map has more than one source
    },
    of: (sourceId) => (bySource.get(sourceId) ?? []).toReversed(),
  }
}
