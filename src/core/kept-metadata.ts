import type { Metadata } from '../schema/shared.ts'

/** The metadata of a workspace that are Posthorn's own. */
const revision = 'posthorn:portal-revision'

/** How often the portal's sessions of a workspace were revoked. */
export function portalRevision(metadata: Metadata): number {
  const count = Number(metadata[revision] ?? 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

/**
 * The metadata of a workspace as a write stores them in place of the stored metadata. The count of revocations never
 * falls, whatever a client writes: a client that writes back what it read before a revocation would open the sessions
 * again.
 */
export function keptMetadata(before: Metadata, written: Metadata): Metadata {
  const count = Math.max(portalRevision(before), portalRevision(written))
  return count === 0 ? written : { ...written, [revision]: String(count) }
}

/** The metadata by which all sessions of before are revoked. */
export function withNextPortalRevision(metadata: Metadata): Metadata {
  return { ...metadata, [revision]: String(portalRevision(metadata) + 1) }
}
