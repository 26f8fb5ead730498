import type { Check } from './applicators.ts'
import { makeCompiler, type Problem } from './compile.ts'
import { textFormats } from './format.ts'
import { makeLibrary } from './library.ts'
import { beginMaking, tooMuch } from './making.ts'
import type { PatternCompiler } from './pattern.ts'
import { type Dialect, type Document, reasonAt, type Schema } from './schema.ts'
import { beginWork, TooMuchWork, type Work } from './work.ts'

/** Answers the reasons why a document does not conform, `at '<place>': <reason>` each; none when it does. */
export type Validator = (document: unknown, wantsReasons?: boolean) => readonly string[]

/** The URI of a schema that has no id. */
const home = 'https://schema.invalid/'

/**
 * Reads a schema, with the documents that it may refer to besides itself. `problems` tells what is wrong with it: patterns
 * that are none, references that lead nowhere, too much work. `steps` is what the making took.
 */
export function readSchema(
  schema: Schema,
  dialect: Dialect,
  documents: readonly Document[],
  pattern: PatternCompiler,
): { readonly validate: Validator; readonly problems: readonly string[]; readonly steps: number } {
  const problems: Problem[] = []
  const making = beginMaking()
  const { steps } = making
  let check: Check
  try {
    const library = makeLibrary(dialect, making)
    const tracksSeen = dialect.draft >= 2019 && JSON.stringify(schema).includes('"unevaluated')
    const tools = { dialect, pattern, tracksSeen, formats: textFormats, making }
    const compiler = makeCompiler(library, tools, (problem) => problems.push(problem))
    for (const document of documents) library.add(document, String(document.$id ?? document.id).replace(/#$/, ''))
    check = compiler.check(library.add(schema, home))
    for (const place of library.within(schema)) compiler.check(place)
  } catch (thrown) {
    if (!isTooMuch(thrown)) throw thrown
    const { message } = tooMuch(making)
    return { problems: [reasonAt([], message)], validate: () => [reasonAt([], message)], steps }
  }

  return {
    steps: steps - making.steps,
    problems: problems.map(({ path, reason }) => reasonAt(path, reason)),
    validate(document, wantsReasons = false) {
      const work = beginWork(wantsReasons)
      try {
        return check(document, work) ? [] : reasonsOf(work)
      } catch (thrown) {
        if (!isTooMuch(thrown)) throw thrown
        return [reasonAt([], new TooMuchWork().message)]
      }
    },
  }
}

/** A budget was used up, or the stack of the engine by what is very deep. */
function isTooMuch(thrown: unknown): boolean {
  return thrown instanceof TooMuchWork || thrown instanceof RangeError
}

function reasonsOf({ reasons }: Work): readonly string[] {
  const told = (reasons ?? []).map(({ path, reason }) => reasonAt(path, reason))
  return told.length > 0 ? told : [reasonAt([], 'value is not allowed')]
}
