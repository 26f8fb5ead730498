import { systemClock } from '../../src/clock.ts'
import { type Folded, Folding, notesIn, type Sum } from '../../src/core/notes.ts'
import { inSlices, pacer } from '../../src/runtime/slices.ts'
import { addWaiting, elementsPerRead } from './add-sums.ts'
import type { Connection } from './client.ts'
import { run, script } from './scripts.ts'

/**
 * Notes that go at once end with the part of the list that reaches one of these: characters, or sums. The more notes go at
 * once, the fewer sums are written again and again.
 */
const maxCharacters = 1_000_000
const maxSums = 5000

/**
 * Puts what the first notes come to behind the additions that wait, in place of these notes. Nothing happens unless
 * `notes-folded` is still what the caller read: then the elements it read are still the first.
 *
 * ARGV: notes-folded, how many elements, additions (see add-sums.ts). Answers 1, or 0 where others folded meanwhile.
 */
const take = script(
  `
local tag = KEYS[1]
if (redis.call('GET', tag .. ':notes-folded') or '0') ~= ARGV[1] then return { '0' } end
for i = 3, #ARGV, 1000 do
  redis.call('RPUSH', tag .. ':additions', unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('LTRIM', tag .. ':notes', ARGV[2], -1)
redis.call('INCRBY', tag .. ':notes-folded', ARGV[2])
return { '1' }`,
  { again: true },
)

/**
 * Goes a step: adds some of what notes came to, which waits since a step before; or takes many notes and adds them up, and what
 * they come to waits. So no script is long, and whichever process dies, others go on. Answers how many sums or notes that were.
 */
export async function foldNotes(connection: Connection, tag: string): Promise<number> {
  for (;;) {
    const found = await addWaiting(connection, tag)
    if ('added' in found) return found.added
    if (found.elements.length === 0) return 0
    const { notes, elements, folded } = await firstNotes(connection, tag, found.elements)
    const additions = await additionsOf(folded)
    const [answer] = await run(connection, take, tag, [found.before, elements, ...additions])
    if (answer === '1') return notes
  }
}

/** Adds up the first notes. The event loop is held for two milliseconds at a time. */
async function firstNotes(connection: Connection, tag: string, first: readonly string[]) {
  // Scripts know the types of a workspace.
  const folding = new Folding((_place, type) => type)
  const pace = pacer(systemClock())
  let [notes, elements, characters] = [0, 0, 0]
  for (let read = first; read.length > 0;) {
    for (const element of read) {
      const turn = pace()
      if (turn !== undefined) await turn
      const found = notesIn(element)
      for (const note of found) folding.add(note)
      notes += found.length
      characters += element.length
    }
    elements += read.length
    if (characters >= maxCharacters || folding.size >= maxSums) break
    const range = [`${tag}:notes`, String(elements), String(elements + elementsPerRead - 1)]
    read = (await connection.send('LRANGE', range, true)) as readonly string[]
  }
  return { notes, elements, folded: folding.folded() }
}

/** As add-sums.ts reads them. */
async function additionsOf({ minutes, hours, streaks, causes }: Folded): Promise<readonly string[]> {
  const additions: string[] = []
  const add = (...parts: readonly (string | number)[]): void => void additions.push(parts.join('\n'))
  await inSlices(systemClock(), minutes, (sum) => add('minute', ...placed(sum), sum.endpoint_id))
  await inSlices(systemClock(), hours, (sum) =>
    add('hour', ...placed(sum), JSON.stringify(sum.endpoint_id), JSON.stringify(sum.event_type), sum.event_type),
  )
  await inSlices(systemClock(), streaks, ({ place, succeeded_at, failed_at, failures, exhausted, ...of }) =>
    add('streak', place, succeeded_at ?? '', failed_at ?? '', failures, exhausted, of.attempt_id ?? '', of.endpoint_id),
  )
  for (const { workspace_id: place, ...cause } of causes) {
    add('cause', place, cause.kind, cause.id, `${JSON.stringify(cause).slice(0, -1)},"workspace_id":`, '}')
  }
  return additions
}

function placed({ place, time, counts }: Sum): readonly (string | number)[] {
  return [place, time, counts.flatMap((count, i) => (count > 0 ? [`${i + 1}=${count}`] : [])).join(',')]
}
