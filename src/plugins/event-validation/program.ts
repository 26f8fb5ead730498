import type { RE2JS } from 're2js'

import { makeJudge, type Schemas } from './judge.ts'
import { patternCompiler } from './pattern.ts'
import type { Version } from './schema.ts'

export type Question =
  | { readonly kind: 'problem'; readonly schema: string; readonly version: Version }
  | {
      readonly kind: 'reasons'
      /** The reasons of each are answered, or null where the schemas are not known. */
      readonly bodies: readonly string[]
      readonly number: number
      readonly schemas: Schemas | null
      readonly wantsReasons: boolean
    }

const warm: Schemas = {
  version: 'draft-07',
  schemas: { a: '{"properties":{"a":{"pattern":"^[a-z]+$"}}}' },
  default_schema: null,
}

/** What a process runs: the module is `re2js`. */
export default function program([re2]: readonly [{ readonly RE2JS: typeof RE2JS }]) {
  const judge = makeJudge(patternCompiler(re2.RE2JS))
  // What the first schema and the first event compile is none of a tenant's time.
  judge.problemOf('{"properties":{"a":{"pattern":"^[a-z]+$"}}}', 'draft-07')
  judge.reasons('{"event_type":"a","data":{"a":"b"}}', -1, warm, true)
  return (question: Question): string | readonly (readonly string[])[] | null => {
    if (question.kind === 'problem') return judge.problemOf(question.schema, question.version)
    const { bodies, number, schemas, wantsReasons } = question
    const all: (readonly string[])[] = []
    for (const body of bodies) {
      const reasons = judge.reasons(body, number, schemas, wantsReasons)
      if (reasons === null) return null
      all.push(reasons)
    }
    return all
  }
}
