import type { Claim, ClaimOptions, SlotsInUse } from '../../src/contracts/queue.ts'
import { claimScript } from './claim-script.ts'
import type { Connection } from './client.ts'
import { run, script } from './scripts.ts'

/** The first answer's jobs, if it was lost, wait for their lease to end. */
const claim = script(claimScript, { again: true })

/** The most jobs that one run claims. A larger limit takes several, which count what the runs before took. */
const jobsPerClaim = 1000

export async function claimJobs(
  connection: Connection,
  tag: string,
  { limit, free, cap, busy, leaveOut, leaseMs, now }: ClaimOptions,
): Promise<readonly Claim[]> {
  const claims: Claim[] = []
  let inUse = busy
  while (claims.length < limit) {
    const wanted = Math.min(limit - claims.length, jobsPerClaim)
    const random = crypto.randomUUID()
    const [more, ...fields] = await run(connection, claim, tag, [
      wanted,
      free - claims.length,
      cap,
      now,
      now + leaseMs,
      random,
      slotArgument(inUse, cap, leaveOut),
    ])
    const taken: Claim[] = []
    for (let i = 0; i < fields.length; i += 4) {
      const [id, workspace, group, due] = fields.slice(i, i + 4) as [string, string, string, string] // as the script answers
      taken.push({ id, workspace, group, due_at: Number(due), token: `${random}/${workspace}` })
    }
    claims.push(...taken)
    if (taken.length < wanted && more !== 'more') break
    if (claims.length < limit) inUse = withTaken(inUse, taken)
  }
  return claims
}

/** Groups that give nothing, then slots in use by group and by workspace. */
function slotArgument(busy: SlotsInUse, cap: number, leaveOut: ReadonlySet<string>): string {
  const closed = [...leaveOut]
  const groups: (string | number)[] = []
  for (const [group, used] of busy.groups) {
    if (used >= cap) closed.push(group)
    else groups.push(group, used)
  }
  return JSON.stringify([closed, groups, [...busy.workspaces].flat()])
}

function withTaken(busy: SlotsInUse, taken: readonly Claim[]): SlotsInUse {
  const workspaces = new Map(busy.workspaces)
  const groups = new Map(busy.groups)
  for (const { workspace, group } of taken) {
    workspaces.set(workspace, (workspaces.get(workspace) ?? 0) + 1)
    groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  return { workspaces, groups }
}
