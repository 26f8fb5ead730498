// A quiet tenant beside another one in the same process: first the other one is harmless, then as hostile as it can be made.
// What the quiet tenant notices is compared.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the quiet tenant and the host saw in one phase. Times in milliseconds; arrivals are counted from the request on. */
interface Phase {
  readonly accepted: number
  readonly refused: number
  readonly p50: number
  readonly p99: number
  readonly arrival50: number
  readonly arrival99: number
  readonly longestHold: number
  /** What the other tenant did, by its kind or status. */
  readonly others: Readonly<Record<string, number>>
}

export interface Verdict {
  readonly harmless: Phase
  readonly hostile: Phase
  readonly undelivered: number
  /** Heap and external memory after a collection, beyond what there was after the harmless phase. */
  readonly grownBytes: number
}

interface Neighbour {
  /** Before a phase and after it, beside no measurement. */
  begin?(phase: string, isHostile: boolean): Promise<void>
  act(phase: string, ms: number, isHostile: boolean, count: (what: string) => void): Promise<void>
  end?(phase: string): Promise<void>
}

const quietEveryMs = 50
const arrivalMs = 30_000

interface Stage {
  readonly seconds: number
  /** Sends the event with that number for the quiet tenant. */
  post(n: number): Promise<Response>
  /** When each event of the quiet tenant came to its endpoint, by id. */
  readonly arrived: ReadonlyMap<string, number>
  readonly neighbour: Neighbour
}

export async function compare({ seconds, post, arrived, neighbour }: Stage): Promise<Verdict> {
  let undelivered = 0

  async function phase(name: string, ms: number, isHostile: boolean): Promise<Phase> {
    const others: Record<string, number> = {}
    const count = (what: string) => void (others[what] = (others[what] ?? 0) + 1)
    const answers: number[] = []
    const accepted = new Map<string, number>()
    let refused = 0

    /** The quiet tenant sends in step with the clock, whatever the answers take. */
    async function quiet(until: number): Promise<void> {
      const sent: Promise<void>[] = []
      while (performance.now() < until) {
        const from = performance.now()
        sent.push(
          post(sent.length).then(
            async (answer) => {
              await answer.arrayBuffer()
              answers.push(performance.now() - from)
              const id = answer.headers.get('webhook-event-id')
              if (answer.status === 200 && id !== null) accepted.set(id, from)
              else refused++
            },
            () => void refused++,
          ),
        )
        await sleep(quietEveryMs)
      }
      await Promise.all(sent)
    }

    await neighbour.begin?.(name, isHostile)
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    await Promise.all([quiet(performance.now() + ms), neighbour.act(name, ms, isHostile, count)])
    delay.disable()
    const deadline = performance.now() + arrivalMs
    const isMissing = (id: string) => !arrived.has(id)
    while ([...accepted.keys()].some(isMissing) && performance.now() < deadline) await sleep(100)
    undelivered += [...accepted.keys()].filter(isMissing).length
    const arrivals = [...accepted].flatMap(([id, from]) => (arrived.has(id) ? [arrived.get(id)! - from] : []))
    await neighbour.end?.(name)
    return {
      accepted: accepted.size,
      refused,
      p50: at(answers, 0.5),
      p99: at(answers, 0.99),
      arrival50: at(arrivals, 0.5),
      arrival99: at(arrivals, 0.99),
      longestHold: Math.round(delay.max / 1e6),
      others,
    }
  }

  await phase('warm', 5000, false)
  await phase('wild', 5000, true) // both kinds are warm before they are compared
  const ms = seconds * 1000
  const harmless = await phase('harmless', ms / 4, false)
  const before = await settled()
  const hostile = await phase('hostile', (3 * ms) / 4, true)
  const grownBytes = (await settled()) - before
  return { harmless, hostile, undelivered, grownBytes }
}

function at(times: number[], part: number): number {
  times.sort((a, b) => a - b)
  return Math.round((times[Math.floor(times.length * part)] ?? 0) * 10) / 10
}

/** Heap and external memory after collections. */
async function settled(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await sleep(100)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

interface Judged {
  /** A run of a minute tells too little of the slowest requests, on a machine that others use too. */
  readonly times: boolean
  /** Whether the event loop may be held no longer than beside the harmless tenant. */
  readonly holds: boolean
}

/** What does not hold; nothing when all does. */
export function faultsOf({ harmless, hostile, undelivered, grownBytes }: Verdict, judged: Judged): readonly string[] {
  const faults: string[] = []
  if (undelivered > 0) faults.push(`${undelivered} events of the quiet tenant were not delivered`)
  if (hostile.refused > 0) faults.push(`${hostile.refused} requests of the quiet tenant were refused`)
  if (grownBytes > 30 * 1024 * 1024) faults.push(`${Math.round(grownBytes / 1e6)} MB more are held after a collection`)
  if (!judged.times) return faults
  for (const what of ['p99', 'arrival99'] as const) {
    if (hostile[what] <= 3 * harmless[what]) continue
    faults.push(`${what} is ${hostile[what]} ms, beside a harmless tenant ${harmless[what]} ms`)
  }
  // The clock of the machine and the collector have their say too, in both phases alike.
  if (judged.holds && hostile.longestHold > Math.max(50, 1.5 * harmless.longestHold)) {
    faults.push(
      `the event loop was held for ${hostile.longestHold} ms, beside a harmless tenant ${harmless.longestHold} ms`,
    )
  }
  return faults
}
