import type { AttemptQuery } from '../../src/contracts/storage/attempts.ts'
import type { TimeRange } from '../../src/contracts/storage/list.ts'
import { eventSlackMs } from '../../src/core/id-bounds.ts'
import { shortWaitMs } from './list-script.ts'
import type { Source } from './merged.ts'

/** How far the time in the id of an attempt that is not astray may be from the attempt's times. */
const skewMs = 60_000

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Where the attempts of a range of time stand, by their ids. A class of waits has the attempts that are scheduled about as long
 * after they are made: a range of `scheduled_at` is a range of ids in each class. `index` has the attempts of each class too.
 */
export function timeSources(
  { created_at, scheduled_at }: Pick<AttemptQuery, 'created_at' | 'scheduled_at'>,
  {
    index,
    room,
    waits,
    isOurs,
    isFew,
  }: {
    index: string
    room: string
    waits: readonly string[]
    isOurs: boolean
    isFew: boolean
  },
): readonly Source[] {
  const created = spanOf(created_at)
  const due = spanOf(scheduled_at)
  const all = `room:${room}:attempts`
  const within = (shortest: number, longest: number, slack: number): Span => ({
    from: Math.max(created.from, due.from - longest) - slack,
    to: Math.min(created.to, due.to - shortest) + (slack || eventSlackMs),
  })
  const classes = waits.map(waitsOf)
  const astray = isOurs ? [] : [{ index: `${all}:astray`, from: -Infinity, to: Infinity }]
  if (isFew) return [{ index, ...within(0, Math.max(shortWaitMs, ...classes.map(({ to }) => to)), skewMs) }, ...astray]
  // An attempt that is skewed may be due at any time after.
  const skewed = { index: `${all}:skewed`, ...within(-skewMs, Infinity, skewMs) }
  if (scheduled_at === undefined) return [{ index, ...within(0, Infinity, 0) }, skewed, ...astray]
  return [
    { index, ...within(0, shortWaitMs, 0) },
    skewed,
    ...astray,
    ...classes.map(({ from, to }, i) => ({ index: `${all}:wait:${waits[i]}`, ...within(from, to, 0) })),
  ]
}

/** The waits of a class, as `waitOf` of list-script.ts makes it. */
function waitsOf(text: string): Span {
  const number = Number(text)
  const step = 2 ** (Math.floor(number / 8) - 4)
  const from = (8 + (number % 8)) * step
  return { from, to: from + step }
}

function spanOf({ eq, gt, gte, lt, lte }: TimeRange = {}): Span {
  const given = (...times: readonly (number | undefined)[]) => times.filter((time) => time !== undefined)
  return { from: Math.max(-Infinity, ...given(eq, gt, gte)), to: Math.min(Infinity, ...given(eq, lt, lte)) }
}
