import type { Metadata } from '../schema/shared.ts'

/** Metadata of a workspace under such a key is Posthorn's: a write that leaves the key out does not remove the key. */
const ours = 'posthorn:'
const sessions = `${ours}portal-revision`

/** The metadata of a workspace as it is written in place of what was there. */
export function keptMetadata(before: Metadata, written: Metadata): Metadata {
  const kept = Object.entries(before).filter(([key]) => key.startsWith(ours) && !Object.hasOwn(written, key))
  return kept.length === 0 ? written : { ...written, ...Object.fromEntries(kept) }
}

/** How often the portal's sessions of a workspace were revoked. */
export function portalRevision(metadata: Metadata): number {
  return Number(metadata[sessions] ?? 0)
}

/** The metadata by which all sessions of before are revoked. */
export function withNextPortalRevision(metadata: Metadata): Metadata {
  return { ...metadata, [sessions]: String(portalRevision(metadata) + 1) }
}
