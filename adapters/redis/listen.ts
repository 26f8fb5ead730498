import { PosthornError } from '../../src/errors.ts'
import type { Connection } from './client.ts'
import { within } from './deadline.ts'
import { prover } from './proof.ts'
import { type Subscriber, subscriberOf } from './subscriber.ts'
import { letExit, pause } from './timers.ts'

/** A connection on which nothing came for so long has to prove itself. */
const quietMs = 15_000
/** The wait before it is to prove itself again where no message could be sent. */
const againMs = 2_000

/** Messages of other processes, on one connection of its own that is open while somebody listens. */
export interface Ear {
  /** Whether the client can be duplicated at all. */
  readonly able: boolean
  /** `heard` gets each message, and null after the connection was lost for a while. Answers how to stop. */
  listen(channel: string, heard: (message: string | null) => void): Promise<() => Promise<void>>
  /** Whether messages arrive, proven by one of our own. True where nobody listens. Answers within 4 s. */
  listening(): Promise<boolean>
  /** Connections open now: none or one. */
  connections(): number
  close(): void
}

/** `proofs`: a channel that nobody else uses. */
export function ear(connection: Connection, proofs: string): Ear {
  const { client } = connection
  const listeners = new Map<string, Set<(message: string | null) => void>>()
  const proof = prover(() => connection.send('PUBLISH', [proofs, ''], true))
  let line: Promise<Subscriber> | undefined
  /** Raised by each hanging up: what was listened to before then is over. */
  let era = 0
  let isReplacing = false
  let timer: unknown

  const tell = (channel: string, message: string | null): void => {
    if (channel === proofs) proof.heard()
    for (const heard of listeners.get(channel) ?? []) heard(message)
    lookIn(quietMs)
  }
  const tellAll = (): void => {
    for (const channel of listeners.keys()) tell(channel, null)
  }
  const hangUp = (): void => {
    const ended = line
    line = undefined
    era++
    listeners.clear()
    clearTimeout(timer as number)
    closeSoon(ended)
  }
  const open = async (): Promise<Subscriber> => {
    const opened = await subscriberOf(client, tell, tellAll)
    try {
      await within(opened.subscribe(proofs))
    } catch (error) {
      opened.close()
      throw error
    }
    lookIn(quietMs)
    return opened
  }

  function lookIn(ms: number): void {
    clearTimeout(timer as number)
    if (line === undefined) return
    timer = setTimeout(() => void listening(), ms)
    letExit(timer)
  }

  async function listening(): Promise<boolean> {
    if (line === undefined) return true
    if (isReplacing) return false
    const asked = line
    const found = await proof.prove()
    if (line === asked && found === 'silent') void replace(asked)
    if (found === 'unknown') lookIn(againMs)
    return found === 'heard'
  }

  /** A silent connection is replaced, with all that is subscribed to. Messages may have been missed. */
  async function replace(silent: Promise<Subscriber>): Promise<void> {
    if (isReplacing) return
    isReplacing = true
    while (line === silent) {
      const next = openAll()
      try {
        await next
        if (line !== silent) closeSoon(next)
        else {
          line = next
          closeSoon(silent)
          tellAll()
        }
        break
      } catch {
        await pause(againMs)
      }
    }
    isReplacing = false
  }

  async function openAll(): Promise<Subscriber> {
    const opened = await open()
    try {
      for (const channel of listeners.keys()) await within(opened.subscribe(channel))
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  }

  connection.onReplaced(() => void listening())
  return {
    able: typeof client.duplicate === 'function',
    connections: () => (line === undefined ? 0 : 1),
    close: hangUp,
    listening,
    async listen(channel, heard) {
      line ??= open()
      const mine = line
      const mineIsOf = era
      const others = listeners.get(channel)
      const all = others ?? new Set()
      listeners.set(channel, all.add(heard))
      const stop = (): void => {
        all.delete(heard)
        if (all.size === 0 && listeners.get(channel) === all) listeners.delete(channel)
        if (listeners.size === 0 && era === mineIsOf) hangUp()
      }
      try {
        await within(mine.then((opened) => opened.subscribe(channel)))
      } catch (error) {
        stop()
        throw new PosthornError('unavailable', 'Redis could not be listened to', { cause: error })
      }
      return async () => stop()
    },
  }
}

/** A connection that never opened has nothing to close. */
function closeSoon(line: Promise<Subscriber> | undefined): void {
  void line?.then(
    (opened) => opened.close(),
    () => {},
  )
}
