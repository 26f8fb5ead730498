import { wasLost } from './answers.ts'
import type { RedisClient } from './redis-client.ts'
import { deadlineMs } from './deadline.ts'
import { hostLine, isEnded, type Line, standInFor } from './line.ts'
import { answers, countingLine, type StandIn } from './stand-in.ts'
import { letExit, pause } from './timers.ts'

const againMs = 250
/** How often the host's client is asked whether it answers again. */
const tendMs = 1_000

/** Whoever waits for an answer. */
export interface Asker {
  /** The asker got `unavailable`: a command that was not sent yet is not sent any more. */
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

/** A connection that left a command without an answer for 5 s. `over` resolves when some connection answers. */
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
  const lines = new ReplaceableLines(client)
  return {
    send: (...command) => lines.send(...command),
    close: () => lines.close(),
    count: () => lines.count(),
    advice: lines.advice,
    onReplaced: (replaced) => lines.onReplaced(replaced),
  }
}

class ReplaceableLines implements Lines {
  readonly #client: RedisClient
  readonly #host: Line
  readonly #isReplaceable: boolean
  readonly #listeners: (() => void)[] = []
  #standIn: StandIn | null = null
  #silence: Silence | null = null
  readonly advice: string | null

  constructor(client: RedisClient) {
    this.#client = client
    this.#host = hostLine(client)
    this.#isReplaceable = typeof client.duplicate === 'function'
    this.advice = this.#isReplaceable
      ? null
      : 'the Redis client has no duplicate(): when its connection stops answering, it cannot be replaced. Add duplicate() to your wrapper of the client'
  }

  async send(command: string, args: readonly string[], asker: Asker, late: (answer: unknown) => void) {
    while (this.#silence !== null) await this.#silence.over
    if (asker.isGone) return undefined
    const line = this.#standIn ?? this.#host
    const answer = line.send(command, args)
    const timer = setTimeout(() => this.#fallSilent(line), deadlineMs)
    answer.then(
      (value) => {
        clearTimeout(timer)
        this.#speaks(line)
        if (asker.isGone) late(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        if (!wasLost(error)) this.#speaks(line)
      },
    )
    return answer
  }

  close(): void {
    this.#standIn?.close()
    this.#standIn = null
    this.#silence?.end()
  }

  count(): number {
    return this.#standIn === null ? 1 : 2
  }

  onReplaced(replaced: () => void): void {
    this.#listeners.push(replaced)
  }

  #speaks(line: Line): void {
    if (this.#silence?.line === line) this.#silence.end()
  }

  #fallSilent(line: Line): void {
    if (!this.#isReplaceable || this.#silence !== null || line !== (this.#standIn ?? this.#host)) return
    let resolve = (): void => {}
    const over = new Promise<void>((done) => (resolve = done))
    this.#silence = {
      line,
      over,
      end: () => {
        this.#silence = null
        resolve()
      },
    }
    void this.#replace(this.#silence)
  }

  async #replace(during: Silence): Promise<void> {
    while (this.#silence === during && !isEnded(this.#client)) {
      const own = standInFor(this.#client)
      if (own !== null && (await answers(own)) && this.#silence === during) {
        this.#standIn?.close()
        this.#standIn = countingLine(own)
        this.#tend(this.#standIn)
        during.end()
        for (const replaced of this.#listeners) replaced()
        return
      }
      own?.close()
      await pause(againMs)
    }
    if (this.#silence === during) during.end()
  }

  /** Asks the host's client now and then, a single command at a time, and goes back to it once it answers. */
  #tend(standIn: StandIn): void {
    let isAsking = false
    const look = (): void => {
      if (this.#standIn !== standIn) return
      if (isEnded(this.#client)) return this.close()
      letExit(setTimeout(look, tendMs))
      if (isAsking) return
      isAsking = true
      const asked = this.#host.send('PING', [])
      asked.then(
        () => {
          if (this.#standIn !== standIn) return
          this.#standIn = null
          this.#silence?.end()
          void standIn.closeWhenIdle()
        },
        () => {},
      )
      asked.finally(() => (isAsking = false)).catch(() => {})
    }
    look()
  }
}
