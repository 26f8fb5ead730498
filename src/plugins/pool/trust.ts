/** For how long a run beyond its limits is held against a script and, with others, against a workspace. */
const memoryMs = 60_000

/**
 * Which scripts may use all processes: those that ended well before, and did not exceed a limit in the last minute. A
 * workspace of which two scripts did so is trusted in none of its scripts for that time.
 */
export function makeTrust(now: () => number) {
  const good = new WeakSet<object>()
  const struck = new WeakMap<object, number>()
  const workspaces = new Map<string, { last: object; until: number; several: boolean }>()

  return {
    hasStruck: (script: object) => (struck.get(script) ?? 0) > now(),
    isTrusted(script: object, workspace: string): boolean {
      const known = workspaces.get(workspace)
      if (known !== undefined && known.until <= now()) workspaces.delete(workspace)
      else if (known?.several === true) return false
      return good.has(script) && (struck.get(script) ?? 0) <= now()
    },
    /** It ended within its limits. */
    praise: (script: object) => void good.add(script),
    /** It exceeded a limit. */
    strike(script: object, workspace: string): void {
      const until = now() + memoryMs
      struck.set(script, until)
      const known = workspaces.get(workspace)
      const several = known !== undefined && known.until > now() && (known.several || known.last !== script)
      workspaces.set(workspace, { last: script, until, several })
      for (const [key, { until }] of workspaces) if (until <= now()) workspaces.delete(key)
    },
  }
}
