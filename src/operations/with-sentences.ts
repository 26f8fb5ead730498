import { PosthornError } from '../errors.ts'
import { lazy } from '../runtime/lazy.ts'

/** Most processes never need a sentence. */
const sentences = lazy(() => import('../core/sentence.ts'))

type Call = (...args: never[]) => Promise<unknown>

/** An answer for an entry of many: the error, or what was made. */
type EntryAnswer = { readonly error?: PosthornError }

/**
 * The same functions, whose errors say in a sentence what was asked, what is wrong and what to do. `body` of such an error
 * is what HTTP answers. Functions stand in groups, `{ endpoints: { create } }`, or
 * alone.
 */
export function withSentences<Functions extends object>(functions: Functions): Functions {
  const spoken = ([group, calls]: [string, object]) => {
    if (typeof calls === 'function') return [group, told(group, calls as Call)]
    const entries = Object.entries(calls as Readonly<Record<string, Call>>).map(([name, call]) => [
      name,
      told(`${group}.${name}`, call),
    ])
    return [group, Object.fromEntries(entries)]
  }
  return Object.fromEntries(Object.entries(functions).map(spoken)) as Functions // name by name
}

/** The errors among the answers, each with the sentence that `events.create` would have thrown. */
async function entriesTold(
  [workspace, inputs]: readonly unknown[],
  answers: readonly EntryAnswer[],
): Promise<readonly EntryAnswer[]> {
  if (answers.every(({ error }) => error === undefined)) return answers
  const { sentence, idsOf } = await sentences()
  return answers.map((answer, i) => {
    if (answer.error === undefined) return answer
    const args = [workspace, (inputs as readonly unknown[])[i]] // as many inputs as answers
    const name = 'events.create'
    return { error: answer.error.retold(sentence(name, args, answer.error), idsOf(name, args)) }
  })
}

function told(operation: string, call: Call): Call {
  const retell = async (args: readonly unknown[], cause: unknown): Promise<never> => {
    if (!(cause instanceof PosthornError)) throw cause
    const { sentence, idsOf } = await sentences()
    throw cause.retold(sentence(operation, args, cause), idsOf(operation, args))
  }
  // No async function: the frame of an async function would cost more than all other work here.
  return (...args) => {
    const answer = call(...args).catch((cause: unknown) => retell(args, cause))
    return operation === 'events.createMany'
      ? answer.then((answers) => entriesTold(args, answers as readonly EntryAnswer[]))
      : answer
  }
}
