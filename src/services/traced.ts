import type { Followed } from '../contracts/telemetry.ts'

/** Runs work as something that is followed, if anybody follows. `endOf` says how it ended, of a failure by `undefined`. */
export function traced<End, Answer>(
  following: Followed<End> | undefined,
  work: (trace: string | null) => Promise<Answer>,
  endOf: (answer: Answer | undefined) => End,
): Promise<Answer> {
  return following === undefined ? work(null) : followed(following, work, endOf)
}

async function followed<End, Answer>(
  following: Followed<End>,
  work: (trace: string | null) => Promise<Answer>,
  endOf: (answer: Answer | undefined) => End,
): Promise<Answer> {
  let answer: Answer | undefined
  try {
    return (answer = await following.within(() => work(following.trace)))
  } finally {
    following.end(endOf(answer))
  }
}
