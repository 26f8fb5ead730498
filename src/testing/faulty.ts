import { PosthornError } from '../errors.ts'
import { intercepted } from './intercept.ts'

/** What a `faulty` contract throws: the error of an engine that cannot be reached. */
export const injectedFault = 'injected fault'

export interface Fault {
  /** Which call fails, counted from 1 over all methods of the contract. */
  readonly failAt: number
  /** `before`: the call is not made. `after`: the call is made, and the answer is lost. */
  readonly mode: 'before' | 'after'
  /** Hears of every call, before it is made. */
  onCall?(count: number, name: string): void
}

/**
 * The same contract, but one call fails as a lost connection does. Run a scenario once for every call to see what a
 * crash at each point leaves behind.
 *
 * @example const posthorn = createTestPosthorn({ storage: faulty(memory(), { failAt: 3, mode: 'after' }) })
 */
export function faulty<Contract extends object>(contract: Contract, { failAt, mode, onCall }: Fault): Contract {
  let count = 0
  return intercepted(contract, async (name, call) => {
    const current = ++count
    onCall?.(current, name)
    if (current !== failAt) return await call()
    if (mode === 'after') await call()
    throw new PosthornError('unavailable', `${injectedFault} ${mode} call ${current}, ${name}`)
  })
}
