import { PosthornError } from '../../src/errors.ts'
import type { Connection } from './client.ts'
import { within } from './deadline.ts'
import { prover } from './heartbeat.ts'
import { type Subscriber, subscriberOf } from './subscriber.ts'
import { letExit, pause } from './timers.ts'

/** A connection on which nothing came for so long has to prove itself. */
const quietMs = 15_000
/** The wait before it is to prove itself again where no message could be sent. */
const againMs = 2_000

/** Messages of other processes, on a separate connection that is open while somebody listens. */
export interface Listener {
  /** Whether the client can be duplicated at all. */
  readonly able: boolean
  /** Each message is passed on, and null after the connection was lost for a while. Answers a function that stops. */
  listen(channel: string, heard: (message: string | null) => void): Promise<() => Promise<void>>
  /** Whether messages arrive, proven by a message of ours. True where nobody listens. Answers within 4 s. */
  listening(): Promise<boolean>
  /** Connections open now: 0 or 1. */
  connections(): number
  close(): void
}

/** `proofs`: a channel that nobody else uses. */
export function listenerOf(connection: Connection, proofs: string): Listener {
  const messages = new Messages(connection, proofs)
  return {
    able: typeof connection.client.duplicate === 'function',
    connections: () => messages.connections(),
    close: () => messages.hangUp(),
    listening: () => messages.listening(),
    listen: (channel, heard) => messages.listen(channel, heard),
  }
}

type Heard = (message: string | null) => void

class Messages {
  readonly #connection: Connection
  readonly #proofs: string
  readonly #listeners = new Map<string, Set<Heard>>()
  readonly #proof: ReturnType<typeof prover>
  #line: Promise<Subscriber> | undefined
  /** Raised by each hanging up: what was listened to before then is over. */
  #era = 0
  #isReplacing = false
  #timer: unknown

  constructor(connection: Connection, proofs: string) {
    this.#connection = connection
    this.#proofs = proofs
    this.#proof = prover(() => connection.send('PUBLISH', [proofs, ''], true))
    connection.onReplaced(() => void this.listening())
  }

  connections(): number {
    return this.#line === undefined ? 0 : 1
  }

  async listen(channel: string, heard: Heard): Promise<() => Promise<void>> {
    this.#line ??= this.#open()
    const line = this.#line
    const era = this.#era
    const all = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, all.add(heard))
    const stop = (): void => {
      all.delete(heard)
      if (all.size === 0 && this.#listeners.get(channel) === all) this.#listeners.delete(channel)
      if (this.#listeners.size === 0 && this.#era === era) this.hangUp()
    }
    try {
      await within(line.then((opened) => opened.subscribe(channel)))
    } catch (error) {
      stop()
      throw new PosthornError('unavailable', 'Redis could not be listened to', { cause: error })
    }
    return async () => stop()
  }

  async listening(): Promise<boolean> {
    if (this.#line === undefined) return true
    if (this.#isReplacing) return false
    const asked = this.#line
    const found = await this.#proof.prove()
    if (this.#line === asked && found === 'silent') void this.#replace(asked)
    if (found === 'unknown') this.#lookIn(againMs)
    return found === 'heard'
  }

  hangUp(): void {
    const ended = this.#line
    this.#line = undefined
    this.#era++
    this.#listeners.clear()
    clearTimeout(this.#timer as number)
    closeSoon(ended)
  }

  #tell(channel: string, message: string | null): void {
    if (channel === this.#proofs) this.#proof.heard()
    for (const heard of this.#listeners.get(channel) ?? []) heard(message)
    this.#lookIn(quietMs)
  }

  #tellAll(): void {
    for (const channel of this.#listeners.keys()) this.#tell(channel, null)
  }

  async #open(): Promise<Subscriber> {
    const opened = await subscriberOf(
      this.#connection.client,
      (channel, message) => this.#tell(channel, message),
      () => this.#tellAll(),
    )
    try {
      await within(opened.subscribe(this.#proofs))
    } catch (error) {
      opened.close()
      throw error
    }
    this.#lookIn(quietMs)
    return opened
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer as number)
    if (this.#line === undefined) return
    this.#timer = setTimeout(() => void this.listening(), ms)
    letExit(this.#timer)
  }

  /** A silent connection is replaced, with all that is subscribed to. Messages may have been missed. */
  async #replace(silent: Promise<Subscriber>): Promise<void> {
    if (this.#isReplacing) return
    this.#isReplacing = true
    while (this.#line === silent) {
      const next = this.#openAll()
      try {
        await next
        if (this.#line !== silent) closeSoon(next)
        else {
          this.#line = next
          closeSoon(silent)
          this.#tellAll()
        }
        break
      } catch {
        await pause(againMs)
      }
    }
    this.#isReplacing = false
  }

  async #openAll(): Promise<Subscriber> {
    const opened = await this.#open()
    try {
      for (const channel of this.#listeners.keys()) await within(opened.subscribe(channel))
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  }
}

/** A connection that never opened has nothing to close. */
function closeSoon(line: Promise<Subscriber> | undefined): void {
  void line?.then(
    (opened) => opened.close(),
    () => {},
  )
}
