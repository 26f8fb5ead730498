import type { Context } from '../context.ts'
import type { EnginePart } from '../contracts/engine.ts'

/** What an instance stands on. Several may be parts of one engine. */
export function engineParts({ storage, queue, inbox, limiter }: Context): readonly EnginePart[] {
  return [storage, queue, inbox, limiter]
}
