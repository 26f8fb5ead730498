import { pause } from './timers.ts'

/** A message of our own that takes longer than this counts as lost. */
const proofMs = 3_000
/** An answer is reused for so long. */
const goodForMs = 1_000

/** `unknown`: the message could not be sent, which says nothing about the connection that listens. */
export type Proof = 'heard' | 'silent' | 'unknown'

export interface Prover {
  /** Sends a message to ourselves and waits until it arrives. Calls at the same time, and within a second after that, share the answer. */
  prove(): Promise<Proof>
  /** A message of our own arrived. */
  heard(): void
}

export function prover(send: () => Promise<unknown>): Prover {
  let last: Promise<Proof> | null = null
  let arrived = (): void => {}

  async function ask(): Promise<Proof> {
    const arrival = new Promise<Proof>((resolve) => (arrived = () => resolve('heard')))
    const sent = await send().then(
      () => true,
      () => false,
    )
    if (!sent) return 'unknown'
    return await Promise.race([arrival, pause(proofMs).then((): Proof => 'silent')])
  }

  return {
    heard: () => arrived(),
    prove() {
      if (last !== null) return last
      const proof = ask().finally(() => {
        void pause(goodForMs).then(() => {
          if (last === proof) last = null
        })
      })
      last = proof
      return proof
    },
  }
}
