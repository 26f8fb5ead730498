import { wasLost } from './answers.ts'
import type { RedisClient } from './redis-client.ts'
import { deadlineMs, within } from './deadline.ts'
import { hostLine, isEnded, type Line, type OwnLine, standInFor } from './line.ts'
import { letExit, pause } from './timers.ts'

/** How long a stand-in may take to connect and answer PING. */
const proofMs = 2_000
const againMs = 250
/** How often the host's client is asked whether it answers again. */
const tendMs = 1_000

/** Whoever waits for an answer. */
export interface Asker {
  /** The asker was told that there is no answer: a command that was not sent yet is not to be sent. */
  readonly isGone: boolean
}

/** Who is asked: the host's client, or a stand-in for it. */
export interface Lines {
  /** Sends a command, once a line answers. `late` gets an answer that comes after the asker is gone. */
  send(command: string, args: readonly string[], asker: Asker, late: (answer: unknown) => void): Promise<unknown>
  /** Lines open now. */
  count(): number
  /** See `Connection`. */
  readonly advice: string | null
  onReplaced(replaced: () => void): void
  close(): void
}

/** A line that left a command without an answer for 5 s. `over` resolves when there is a line that answers. */
interface Silence {
  readonly line: Line
  readonly over: Promise<void>
  readonly end: () => void
}

/**
 * A half-open connection may leave commands without an answer for a quarter of an hour. After 5 s of that nothing more
 * is sent on it, and a duplicate of the host's client is made. When that answers PING, it stands in for the client,
 * until the client answers again. A line that answers late goes on too.
 */
export function linesOf(client: RedisClient): Lines {
  const host = hostLine(client)
  const isReplaceable = typeof client.duplicate === 'function'
  const listeners: (() => void)[] = []
  let standIn: StandIn | null = null
  let silence: Silence | null = null

  async function send(command: string, args: readonly string[], asker: Asker, late: (answer: unknown) => void) {
    while (silence !== null) await silence.over
    if (asker.isGone) return undefined
    const line = standIn ?? host
    const answer = line.send(command, args)
    const timer = setTimeout(() => fallSilent(line), deadlineMs)
    answer.then(
      (value) => {
        clearTimeout(timer)
        speaks(line)
        if (asker.isGone) late(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        if (!wasLost(error)) speaks(line)
      },
    )
    return answer
  }

  function speaks(line: Line): void {
    if (silence?.line === line) silence.end()
  }

  function fallSilent(line: Line): void {
    if (!isReplaceable || silence !== null || line !== (standIn ?? host)) return
    let resolve = (): void => {}
    const over = new Promise<void>((done) => (resolve = done))
    silence = {
      line,
      over,
      end() {
        silence = null
        resolve()
      },
    }
    void replace(silence)
  }

  async function replace(during: Silence): Promise<void> {
    while (silence === during && !isEnded(client)) {
      const own = standInFor(client)
      if (own !== null && (await answers(own)) && silence === during) {
        standIn?.close()
        standIn = countingLine(own)
        tend(standIn)
        during.end()
        for (const replaced of listeners) replaced()
        return
      }
      own?.close()
      await pause(againMs)
    }
    if (silence === during) during.end()
  }

  /** Asks the host's client now and then, a single command at a time, and goes back to it once it answers. */
  function tend(mine: StandIn): void {
    let isAsking = false
    const look = (): void => {
      if (standIn !== mine) return
      if (isEnded(client)) return close()
      letExit(setTimeout(look, tendMs))
      if (isAsking) return
      isAsking = true
      const asked = host.send('PING', [])
      asked.then(
        () => {
          if (standIn !== mine) return
          standIn = null
          silence?.end()
          void mine.closeWhenIdle()
        },
        () => {},
      )
      asked.finally(() => (isAsking = false)).catch(() => {})
    }
    look()
  }

  function close(): void {
    standIn?.close()
    standIn = null
    silence?.end()
  }

  return {
    send,
    close,
    count: () => (standIn === null ? 1 : 2),
    advice: isReplaceable
      ? null
      : 'the Redis client has no duplicate(): when its connection stops answering, it cannot be replaced. Add duplicate() to your wrapper of the client',
    onReplaced: (replaced) => void listeners.push(replaced),
  }
}

interface StandIn extends OwnLine {
  /** Closes the line when its last command is answered, or after the deadline. */
  closeWhenIdle(): Promise<void>
}

function countingLine(own: OwnLine): StandIn {
  const waiting = new Set<Promise<unknown>>()
  return {
    close: own.close,
    async send(command, args) {
      const answer = own.send(command, args)
      waiting.add(answer)
      try {
        return await answer
      } finally {
        waiting.delete(answer)
      }
    },
    async closeWhenIdle() {
      await within(Promise.allSettled(waiting)).catch(() => {})
      own.close()
    },
  }
}

/** A client that does not queue commands refuses them until it is connected. */
async function answers(line: Line): Promise<boolean> {
  let isOver = false
  const ask = async (): Promise<boolean> => {
    while (!isOver) {
      try {
        await line.send('PING', [])
        return true
      } catch {
        await pause(50)
      }
    }
    return false
  }
  try {
    return await within(ask(), proofMs)
  } catch {
    return false
  } finally {
    isOver = true
  }
}
