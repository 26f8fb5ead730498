import type { Workspace } from '../schema/workspace.ts'

type Written = Omit<Workspace, 'limits'> & { readonly limits?: Workspace['limits'] }

/** A workspace with all members, in the order in which they are answered. A workspace that a version before wrote has no limits. */
export function workspaceRow({ limits, ...row }: Written): Workspace {
  const { events_per_second = null, retention_days = null, endpoints = null } = limits ?? {}
  return { ...row, limits: { events_per_second, retention_days, endpoints } }
}
