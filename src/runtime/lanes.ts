import { type Batcher, batcher, type BatcherOptions } from './batcher.ts'

interface LaneOptions<Entry, Answer> extends BatcherOptions<Entry, Answer> {
  /** Whether an entry takes an engine far longer than others. */
  isWide(entry: Entry): boolean
  /** How many flushes of wide entries are in flight. With one the engine is free for others between two of them. */
  readonly maxWideInFlight: number
}

/** A batcher whose wide entries have batches of their own, so that they keep no other entry waiting. */
export function lanes<Entry, Answer>(options: LaneOptions<Entry, Answer>): Batcher<Entry, Answer> {
  const narrow = batcher(options)
  const wide = batcher({ ...options, maxInFlight: options.maxWideInFlight })
  return {
    add: (entry, how) => (options.isWide(entry) ? wide : narrow).add(entry, how),
    addFor: (entry, to, how) => (options.isWide(entry) ? wide : narrow).addFor(entry, to, how),
    async idle() {
      await Promise.all([narrow.idle(), wide.idle()])
    },
    giveUp() {
      narrow.giveUp()
      wide.giveUp()
    },
    waiting: () => narrow.waiting() + wide.waiting(),
  }
}
