import type * as v from 'valibot'

import { pacer, type SliceClock } from '../runtime/slices.ts'
import { configDocument } from '../schema/config.ts'
import { isPlainObject } from '../schema/fields.ts'
import { type Issue, parsedIssues, refusalOfIssues } from '../schema/parse.ts'

type Document = v.InferOutput<typeof configDocument>
type Kind = 'endpoints' | 'sources'

/** Entries that are parsed at once: others get turns of the event loop in between. */
const entriesPerPart = 50

/** Parses a document, which may have thousands of entries, as its schema does. @throws PosthornError `validation` */
export async function parsedInParts(clock: SliceClock, document: unknown): Promise<Document> {
  const pace = pacer(clock)
  const issues: Issue[] = []
  const read = (part: unknown, offset = 0): Document => {
    const result = parsedIssues(configDocument, part)
    if (result.ok) return result.value
    issues.push(...result.issues.map((issue) => shifted(issue, offset)))
    return {}
  }

  const rest: Record<string, unknown> | null = isPlainObject(document) ? { ...document } : null
  const entries: { [K in Kind]?: unknown[] } = {}
  for (const kind of ['endpoints', 'sources'] as const) {
    const given: unknown = rest?.[kind]
    if (!Array.isArray(given)) continue
    const all: unknown[] = []
    for (let start = 0; start < given.length; start += entriesPerPart) {
      await pace()
      all.push(...(read({ [kind]: given.slice(start, start + entriesPerPart) }, start)[kind] ?? []))
    }
    entries[kind] = all
    rest![kind] = []
  }
  const whole = { ...read(rest ?? document), ...entries }
  if (issues.length > 0) throw refusalOfIssues(issues.toSorted((a, b) => rankOf(a) - rankOf(b)))
  return whole as Document // the entries are those that its schema answered
}

/** Where an issue stands among those of the whole: as its schema names the kinds. */
function rankOf({ path }: Issue): number {
  const key = path?.[0]?.key
  return key === 'endpoints' ? 0 : key === 'sources' ? 1 : 2
}

/** An issue of a part at its place in the whole: the second step of a path is the position in the list. */
function shifted(issue: Issue, offset: number): Issue {
  const path = issue.path?.map((step, i) =>
    i === 1 && typeof step.key === 'number' ? { ...step, key: step.key + offset } : step,
  )
  return { ...issue, path }
}
