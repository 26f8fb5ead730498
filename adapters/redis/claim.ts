import type { Claim, ClaimOptions, SlotsInUse } from '../../src/contracts/queue.ts'
import { fromRank, maxLow } from '../../src/core/job-rank.ts'
import { LostLeases } from '../../src/core/lost-leases.ts'
import { claimScript } from './claim-script.ts'
import type { Connection } from './client.ts'
import { deliveryOf, loadedWidth } from './loading.ts'
import { queueFunctions } from './queue-script.ts'
import { run, script } from './scripts.ts'

const claim = script(claimScript, { again: true })

/**
 * The most jobs that one run of the script claims. A larger limit takes several runs; each run counts what the runs
 * before took.
 */
const jobsPerClaim = 1000

/** ARGV: token and end of the lease of a claim that got no answer. Its jobs wait again. */
const giveBack = script(
  `${queueFunctions}
local touched, token, begun = {}, ARGV[1] .. '/', ARGV[2]
for _, id in ipairs(redis.call('ZRANGEBYSCORE', queue .. 'held', begun, begun)) do
  local rank, holder, group = findJob(id)
  if string.sub(holder, 1, #token) == token then giveJobBack(id, rank, holder, group, touched) end
end
placeAll(touched)
return {}`,
  { again: true },
)
const giveBackEveryMs = 500

/** Takes due jobs: see `Queue.claim`. */
export function claimer(connection: Connection, tag: string): (options: ClaimOptions) => Promise<readonly Claim[]> {
  const lost = new LostLeases(giveBackEveryMs)
  return async (options) => {
    const { now, leaseMs } = options
    for (const { token, until } of lost.due(now)) await run(connection, giveBack, tag, [token, until])
    const tokens: string[] = []
    try {
      return await claimJobs(connection, tag, options, tokens)
    } catch (cause) {
      for (const token of tokens) lost.add({ token, until: now + leaseMs })
      throw cause
    }
  }
}

/** `tokens` gets those under which jobs were or may be held. */
async function claimJobs(
  connection: Connection,
  tag: string,
  { limit, free, cap, busy, leaveOut, leaseMs, now, loads = false }: ClaimOptions,
  tokens: string[],
): Promise<readonly Claim[]> {
  const claims: Claim[] = []
  let inUse = busy
  while (claims.length < limit) {
    const wanted = Math.min(limit - claims.length, jobsPerClaim)
    const random = crypto.randomUUID()
    tokens.push(random)
    const reply = await run(connection, claim, tag, [
      wanted,
      free - claims.length,
      cap,
      now,
      now + leaseMs,
      random,
      slotArgument(inUse, cap, leaveOut),
      maxLow(cap),
      loads ? 1 : 0,
    ])
    const taken = claimsOf(reply, random, loads)
    claims.push(...taken)
    if (taken.length < wanted && reply[0] !== 'more') break
    if (claims.length < limit) inUse = withTaken(inUse, taken)
  }
  return claims
}

/** Runs of jobs of one group. */
function claimsOf(reply: readonly string[], random: string, loads: boolean): Claim[] {
  const claims: Claim[] = []
  const width = loads ? 3 + loadedWidth : 2
  for (let at = 1; at < reply.length;) {
    const [workspace, group, count] = reply.slice(at, at + 3) as [string, string, string] // as the script answers
    const token = `${random}/${workspace}`
    const end = at + 3 + width * Number(count)
    for (at += 3; at < end; at += width) {
      const rest = loads ? loadedIn(reply, at + 2) : null
      claims.push({ id: reply[at]!, workspace, group, ...fromRank(Number(reply[at + 1])), token, ...rest })
    }
  }
  return claims
}

/** The attempt of a job, unless the script left it to be asked for. */
function loadedIn(reply: readonly string[], at: number): Pick<Claim, 'delivery'> {
  const what = reply[at]
  if (what === '?') return {}
  return { delivery: what === '-' ? null : deliveryOf(reply.slice(at + 1, at + 1 + loadedWidth)) }
}

/** Groups that give nothing, then slots in use by group, by workspace, and by jobs of low priority. */
function slotArgument(busy: SlotsInUse, cap: number, leaveOut: ReadonlySet<string>): string {
  const closed = [...leaveOut]
  const groups: (string | number)[] = []
  for (const [group, used] of busy.groups) {
    if (used >= cap) closed.push(group)
    else groups.push(group, used)
  }
  return JSON.stringify([closed, groups, [...busy.workspaces].flat(), [...busy.low].flat()])
}

function withTaken(busy: SlotsInUse, taken: readonly Claim[]): SlotsInUse {
  const workspaces = new Map(busy.workspaces)
  const groups = new Map(busy.groups)
  const low = new Map(busy.low)
  for (const { workspace, group, priority } of taken) {
    if (priority === 'low') low.set(group, (low.get(group) ?? 0) + 1)
    workspaces.set(workspace, (workspaces.get(workspace) ?? 0) + 1)
    groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  return { workspaces, groups, low }
}
