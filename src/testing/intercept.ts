/**
 * The same contract, with `around` in the way of every call of it and of what belongs to it (`events.ingest`, `queue.claim`):
 * it decides whether and when the call is made, and what is answered. `using` is left as it is.
 */
export function intercepted<Contract extends object>(
  contract: Contract,
  around: (name: string, call: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>,
  prefix = '',
): Contract {
  const entries = Object.entries(contract).map(([key, member]: [string, unknown]) => {
    const name = `${prefix}${key}`
    if (typeof member === 'function' && key !== 'using') {
      return [
        key,
        (...args: unknown[]) => around(name, async () => await (member.apply(contract, args) as unknown), args),
      ]
    }
    const nested = typeof member === 'object' && member !== null && !Array.isArray(member)
    return [key, nested ? intercepted(member, around, `${name}.`) : member]
  })
  return Object.fromEntries(entries) as Contract // the same members with the same signatures
}
