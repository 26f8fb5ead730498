import type { SourceRequest } from '../schema/instance.ts'

/** Whose request it was. */
export interface SourceTenant {
  readonly workspaceId: string
  readonly sourceId: string
}

/** The last requests of each source, in the memory of this process. */
export interface RequestLog {
  add(tenant: SourceTenant, request: SourceRequest): void
  /** Newest first. */
  of(tenant: SourceTenant): readonly SourceRequest[]
}
