import type { HttpClient, Reply } from '../../src/contracts/http-client.ts'
import type { Outbound } from '../../src/contracts/request.ts'

/** A request in flight, answered by the test. */
export interface HeldRequest {
  readonly request: Outbound
  readonly signal: AbortSignal
  answer(reply: Reply): void
}

export const ok: Reply = { kind: 'response', status: 200, headers: {}, body: '', ended: true }
export const timedOut: Reply = { kind: 'timeout', message: 'timed out' }

/** An HTTP client whose requests stay in flight until the test answers them; aborted ones end by themselves. */
export function heldHttp(): HttpClient & { readonly inFlight: HeldRequest[]; readonly sent: Outbound[] } {
  const inFlight: HeldRequest[] = []
  const sent: Outbound[] = []
  return {
    inFlight,
    sent,
    send: (request, { signal }) =>
      new Promise((resolve) => {
        sent.push(request)
        const held: HeldRequest = {
          request,
          signal,
          answer(reply) {
            inFlight.splice(inFlight.indexOf(held), 1)
            resolve(reply)
          },
        }
        inFlight.push(held)
        signal.addEventListener('abort', () => held.answer({ kind: 'aborted' }), { once: true })
      }),
  }
}
