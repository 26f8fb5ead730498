import type { Context } from '../context.ts'
import type { EnginePart } from '../contracts/engine.ts'

/** The parts that an instance stands on. Several of them may belong to one engine. */
export function engineParts({ storage, queue, inbox, limiter }: Context): readonly EnginePart[] {
  return [storage, queue, inbox, limiter]
}
