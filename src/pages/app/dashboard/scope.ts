import { segment } from '../kit/ask.ts'
import type { Scope } from '../kit/scope.ts'

/** The rows of one workspace, as an operator sees them. */
export function scopeOf(workspace: string): Scope {
  return {
    api: `/api/workspaces/${segment(workspace)}`,
    path: `/w/${segment(workspace)}`,
    may: { replay: true, test: true, secret: true, rotate: true },
  }
}
