import { redis } from '../../adapters/redis/index.ts'
import type { Claim, Job } from '../../src/contracts/queue.ts'
import { clients, startRedis } from '../support/redis.ts'

// What 100,000 jobs of one endpoint that hangs cost the others: claims of 50 jobs among 500 endpoints, and their
// completion, beside such a backlog and without it, in turn.

const backlog = 100_000
const groups = 500
const rounds = 400
const maxRatio = 1.5
const hanging = 'hanging'
const cap = 16
const now = Date.now()

const server = await startRedis()
const { client, close } = await clients[0]!.open(server.url)

async function queueWith(namespace: string, jobs: readonly Job[]) {
  const { queue } = redis(client, { namespace })
  const others = Array.from({ length: groups * 50 }, (_, i) => ({
    id: `o${i}`,
    workspace: 'w',
    group: `g${i % groups}`,
    due_at: now - 50_000 + i,
  }))
  await queue.add([...jobs, ...others])
  return queue
}

const old = Array.from({ length: backlog }, (_, i) => ({
  id: `h${i}`,
  workspace: 'w',
  group: hanging,
  due_at: now - 900_000 + i,
}))
const none = await queueWith('none', [])
const busy = await queueWith('busy', old)
const paused = await queueWith('paused', old)
await paused.pause([{ group: hanging, until: now + 3_600_000 }])

const queues = [
  { name: 'no backlog', queue: none, inUse: new Map<string, number>(), took: [] as number[] },
  { name: 'at its cap', queue: busy, inUse: new Map([[hanging, cap]]), took: [] as number[] },
  { name: 'paused', queue: paused, inUse: new Map<string, number>(), took: [] as number[] },
]
for (let round = 0; round < rounds; round++) {
  for (const { queue, inUse, took } of queues) {
    const start = performance.now()
    const claims: readonly Claim[] = await queue.claim({
      limit: 50,
      free: 256,
      cap,
      busy: { workspaces: new Map(), groups: inUse, low: new Map() },
      leaveOut: new Set(),
      leaseMs: 30_000,
      now,
    })
    await queue.nextDueAt!(now)
    await queue.complete(claims)
    took.push(performance.now() - start)
    if (claims.length !== 50 || claims.some(({ group }) => group === hanging)) throw new Error('a wrong claim')
  }
}
close()
await server.stop()

const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1]!
const without = median(queues[0]!.took)
console.log(
  `Claim of 50 jobs and their completion, median of ${rounds}, beside ${backlog} blocked jobs of one endpoint`,
)
for (const { name, took } of queues) {
  const ratio = median(took) / without
  console.log(`${name.padEnd(12)} ${median(took).toFixed(2)} ms   ratio ${ratio.toFixed(2)}`)
  if (ratio > maxRatio) process.exitCode = 1
}
