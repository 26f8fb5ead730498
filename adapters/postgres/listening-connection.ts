import { letExit, settled } from './timers.ts'

/** After so long without a message, a message of our own is sent to test the connection. */
const quietMs = 15_000
/** If that message does not arrive within this time, the connection is replaced. */
const answersWithinMs = 5_000
const lookEveryMs = 1_000

type Stop = () => Promise<void>

interface Needs {
  /** Opens a connection that hears. Answers how to close it. */
  open(hears: (payload: string) => void, regained: () => void, lost: () => void): Promise<Stop>
  hears(payload: string): void
  /** Messages may have been missed. */
  regained(): void
  /** Sends a message of our own, over another connection. */
  speak(): Promise<void>
}

/** A connection to the server that is tested while it is quiet: a firewall may have dropped it without a word to either end. */
export interface ListeningConnection {
  /** Opens the line unless it is open. */
  open(): Promise<void>
  /** False while the line is known not to work. A line that nobody opened is well. */
  isWell(): boolean
  close(): Promise<void>
}

export function listeningConnection({ open, hears, regained, speak }: Needs): ListeningConnection {
  let line: Promise<Stop> | null = null
  let isWell = true
  let lastHeard = 0
  let looking: ReturnType<typeof setInterval> | undefined
  let isProving = false

  const dial = (): Promise<Stop> =>
    open(
      (payload) => {
        lastHeard = performance.now()
        isWell = true
        hears(payload)
      },
      () => {
        lastHeard = performance.now()
        isWell = true
        regained()
      },
      () => (isWell = false),
    )

  /** Tests a quiet connection. If no message arrives, the connection is replaced. */
  async function prove(): Promise<void> {
    const ownLine = line
    const spokenAt = performance.now()
    if (ownLine === null || (isWell && spokenAt - lastHeard < quietMs)) return
    await speak() // where this fails the server is away, and says nothing of the line
    for (let waited = 0; lastHeard < spokenAt && waited < answersWithinMs; waited += 100) await pause(100)
    if (lastHeard >= spokenAt || line !== ownLine) return
    isWell = false
    const stop = await ownLine.catch(() => null)
    if (stop !== null) await settled(stop(), answersWithinMs)
    if (line !== ownLine) return
    line = dial()
    await line
    lastHeard = performance.now()
    isWell = true
    regained()
  }

  function look(): void {
    if (isProving) return
    isProving = true
    prove()
      .catch(() => {}) // the next look tries again
      .finally(() => (isProving = false))
  }

  return {
    async open() {
      line ??= dial()
      const ownLine = line
      try {
        await ownLine
      } catch (error) {
        if (line === ownLine) line = null
        throw error
      }
      lastHeard = performance.now()
      if (looking !== undefined || line !== ownLine) return
      looking = setInterval(look, lookEveryMs)
      letExit(looking)
    },
    isWell: () => isWell,
    async close() {
      const ended = line
      line = null
      isWell = true
      clearInterval(looking)
      looking = undefined
      const stop = await ended?.catch(() => null)
      await stop?.()
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => letExit(setTimeout(resolve, ms)))
}
