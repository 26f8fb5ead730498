import type { Inbox, NewMessage, Taken } from '../contracts/inbox.ts'
import { alike, type Equivalence, inBoth } from './equivalence.ts'
import { random } from './random.ts'
import { start } from './storage/rows.ts'

/**
 * Drives two inboxes with the same random operations, and throws at the first answer that differs.
 *
 * @example await runInboxEquivalence({ seed: 1, operations: 500, left: memory().inbox, right: myInbox })
 */
export async function runInboxEquivalence({ seed, operations, left, right }: Equivalence<Inbox>): Promise<void> {
  const { below, of } = random(seed)
  const taken: { readonly left: readonly Taken[]; readonly right: readonly Taken[] }[] = []
  let now = start
  let count = 0

  const message = (): NewMessage => ({
    ...(below(4) === 0 && { lease: { token: `t${below(3)}`, until: now + below(200) } }),
    id: `m${below(5) === 0 ? below(count + 1) : count++}`,
    // `a` has most messages.
    workspaceId: of(['a', 'a', 'a', 'a', 'b', 'c', 'a:b']),
    event_type: 'x',
    data: JSON.stringify('x'.repeat(below(40))),
    unique_id: null,
    received_at: now - below(20),
  })
  const bare = ({ token: _, ...rest }: Taken) => rest

  const operationsOf: (() => Promise<void | readonly [what: string, answers: { left: unknown; right: unknown }]>)[] = [
    async () => {
      const messages = Array.from({ length: 1 + below(8) }, message)
      return [`put ${JSON.stringify(messages)}`, await inBoth(left, right, (inbox) => inbox.put(messages))]
    },
    async () => {
      const leaveOut = new Set(['a', 'b', 'c', 'a:b'].filter(() => below(6) === 0))
      const options = { limit: 1 + below(8), maxBytes: of([0, 30, 60, 1000]), leaseMs: 1 + below(200), now, leaveOut }
      const both = await inBoth(left, right, (inbox) => inbox.take(options))
      taken.push(both)
      return [
        `take ${JSON.stringify({ ...options, leaveOut: [...leaveOut] })}`,
        { left: both.left.map(bare), right: both.right.map(bare) },
      ]
    },
    async () => {
      if (taken.length === 0) return
      const one = of(taken)
      const from = below(3)
      const part = (all: readonly Taken[]) => all.slice(from, from + 3)
      const how = of(['done', 'done', 'done', 'release', 'bury'] as const)
      const letGo = (inbox: Inbox, side: 'left' | 'right') => inbox[how]!(part(one[side]), 'it could not be stored')
      return [how, await inBoth(left, right, letGo)]
    },
    async () => {
      now += below(100)
      return ['size', await inBoth(left, right, (inbox) => inbox.size())]
    },
  ]
  for (let step = 0; step < operations; step++) {
    const answer = await of(operationsOf)()
    if (answer !== undefined) alike(seed, step, answer[0], answer[1])
  }
}
