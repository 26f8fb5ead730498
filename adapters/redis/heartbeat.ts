import { pause } from './timers.ts'

/** How long a message of our own may be under way. */
const proofMs = 3_000
/** A proof is good for so long: whoever asks meanwhile gets the same answer. */
const goodForMs = 1_000

/** `unknown`: the message could not be sent, which says nothing about the connection that hears. */
export type Proof = 'heard' | 'silent' | 'unknown'

export interface Prover {
  /** Sends a message to ourselves and waits for it. Calls at the same time, and a second after it was heard, share the answer. */
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
      const mine = ask().finally(() => {
        void pause(goodForMs).then(() => {
          if (last === mine) last = null
        })
      })
      last = mine
      return mine
    },
  }
}
