import type { HttpClient, Reply, SendOptions } from '../contracts/http-client.ts'
import type { Outbound } from '../contracts/request.ts'
import { recordText } from '../core/capture.ts'
import { type ReceivedWebhook, verifyWebhook } from '../verify.ts'
import type { FakeClock } from './fake-clock.ts'

/** What a scripted receiver does with a request: a status, an answer, `hang` until the timeout, or `reset` the connection. */
export type Reaction =
  | number
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'
  | 'reset'

/** A request that would have been sent. */
export interface RecordedDelivery extends Outbound {
  /** Unix milliseconds of the clock. */
  readonly at: number
  /** What the receiver did; null while it has not answered. */
  readonly reaction: Reaction
  /** The payload, if the signature holds under one of the secrets. @throws WebhookVerificationError */
  verify(secrets: string | readonly string[]): Promise<unknown>
}

/** The receiver behind one URL. */
export interface ScriptedReceiver {
  /** One reaction for each request, in order; the last reaction repeats. Replaces an earlier script. */
  answers(...reactions: Reaction[]): void
  readonly received: readonly RecordedDelivery[]
}

export interface ScriptedReceivers extends HttpClient {
  /** All requests, in the order they were sent. */
  readonly deliveries: readonly RecordedDelivery[]
  /** The receiver of a URL; without a script it answers 200. */
  receiver(url: string): ScriptedReceiver
}

/** An HTTP client that sends nothing: receivers are scripted, and time is the clock's. */
export function scriptedReceivers(clock: FakeClock): ScriptedReceivers {
  const deliveries: RecordedDelivery[] = []
  const scripts = new Map<string, Reaction[]>()

  function nextReaction(url: string): Reaction {
    const script = scripts.get(url)
    if (script === undefined || script.length === 0) return 200
    return script.length === 1 ? script[0]! : script.shift()!
  }

  async function send(request: Outbound, { timeoutMs, signal, captureBytes }: SendOptions): Promise<Reply> {
    if (signal.aborted) return { kind: 'aborted' }
    const reaction = nextReaction(request.url)
    const at = clock.now()
    deliveries.push({ ...request, at, reaction, verify: (secrets) => verified(request, secrets, at) })
    if (reaction === 'reset') return { kind: 'error', message: 'read ECONNRESET', unreachable: false }
    if (reaction === 'hang') {
      // Several that hang at once run out of time at once.
      await clock.advance(Math.max(0, at + timeoutMs - clock.now()))
      if (signal.aborted) return { kind: 'aborted' }
      return { kind: 'timeout', message: `timed out after ${timeoutMs} ms waiting for headers` }
    }
    const answer = typeof reaction === 'number' ? { status: reaction } : reaction
    return {
      kind: 'response',
      status: answer.status,
      headers: answer.headers ?? {},
      body: recordText(answer.body ?? '', captureBytes),
      ended: true,
    }
  }

  return {
    send,
    deliveries,
    receiver: (url) => ({
      answers: (...reactions) => void scripts.set(url, [...reactions]),
      get received() {
        return deliveries.filter((delivery) => delivery.url === url)
      },
    }),
  }
}

async function verified(request: Outbound, secrets: string | readonly string[], at: number): Promise<unknown> {
  const received: ReceivedWebhook = { headers: request.headers, body: request.body ?? '' }
  return await verifyWebhook(received, secrets, { now: at })
}
