/**
 * Which scripts may use all processes: those that ended well before and have no strike now. A workspace in which two
 * scripts have strikes is trusted in no script.
 */
export function makeTrust(now: () => number) {
  const good = new WeakSet<object>()
  const struck = new WeakMap<object, number>()
  const workspaces = new Map<string, { last: object; until: number; several: boolean }>()

  const isStruck = (script: object) => (struck.get(script) ?? 0) > now()

  return {
    isStruck,
    isTrusted(script: object, workspace: string): boolean {
      const known = workspaces.get(workspace)
      if (known?.several === true && known.until > now()) return false
      return good.has(script) && !isStruck(script)
    },
    /** The script ended within its limits. */
    praise: (script: object) => void good.add(script),
    /** Holds something against the script for a time. */
    strike(script: object, workspace: string, forMs: number): void {
      const at = now()
      const until = at + forMs
      struck.set(script, Math.max(until, struck.get(script) ?? 0))
      const known = workspaces.get(workspace)
      const live = known !== undefined && known.until > at
      const several = live && (known.several || known.last !== script)
      workspaces.set(workspace, { last: script, until: live ? Math.max(until, known.until) : until, several })
      for (const [key, each] of workspaces) if (each.until <= at) workspaces.delete(key)
    },
  }
}
