import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100

interface Process {
  readonly name: string
  readonly parent: number
  /** Its own time. */
  readonly ticks: number
  /** That of children that have ended. */
  readonly childTicks: number
}

/** Seconds of processor time that the servers which this process started have used by now; NaN where /proc is not Linux's. */
export function serverCpuSeconds(): number {
  let all: Map<number, Process>
  try {
    all = new Map(readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? processOf(Number(entry)) : [])))
  } catch {
    return NaN
  }
  let ticks = 0
  for (const [id, { name, parent }] of all) {
    if (parent !== process.pid || !/^(postgres|redis-server)$/.test(name)) continue
    for (const [other, each] of all) if (other === id || each.parent === id) ticks += each.ticks
    ticks += all.get(id)!.childTicks
  }
  return ticks / ticksPerSecond
}

function processOf(id: number): [number, Process][] {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    const fields = text.slice(end + 2).split(' ')
    const at = (i: number) => Number(fields[i])
    return [
      [
        id,
        {
          name: text.slice(text.indexOf('(') + 1, end),
          parent: at(1),
          ticks: at(11) + at(12),
          childTicks: at(13) + at(14),
        },
      ],
    ]
  } catch {
    return [] // it has ended
  }
}
