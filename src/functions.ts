import { withSentences } from './core/with-sentences.ts'
import { withEach } from './operations/each.ts'
import { functionOf, functionsOf } from './operations/functions-of.ts'
import type { Operation } from './operations/operation.ts'
import type { Event, StoredEvent } from './schema/event.ts'
import type { Created, Services } from './services/use-cases.ts'
import type { ServiceFunctions } from './surface/functions.ts'

/** Wraps each function, to refuse calls for instance. */
export type Guard = <Args extends readonly unknown[], Answer>(
  call: (...args: Args) => Promise<Answer>,
) => (...args: Args) => Promise<Answer>

/** The functions of `createPosthorn`: those of the table, with the parsed `data` of events. */
export function serviceFunctions(services: Services, guard: Guard = (call) => call): ServiceFunctions {
  const functions = functionsOf((name, operation) => {
    const call = functionOf(services, name)
    const show = shownBy(operation)
    return guard(async (...args) => show(await call(...args)))
  })
  const spoken = withSentences({
    ...functions,
    events: {
      ...functions.events,
      raw: guard(async (workspace: string, id: string) => (await services.events.get(workspace, id)).data),
    },
  })
  return withEach(spoken)
}

/** How the answer of a use case is shown to the host. */
function shownBy({ answers, list }: Operation): (answer: unknown) => unknown {
  const isEvent = answers[200] === 'Event'
  if (answers[201] !== undefined && answers[200] !== undefined) {
    return (answer) => {
      const { row } = answer as Created<object>
      return isEvent ? parsed(row as StoredEvent) : row
    }
  }
  if (!isEvent) return (answer) => answer
  if (list !== true) return (answer) => parsed(answer as StoredEvent)
  return (answer) => {
    const page = answer as { readonly data: readonly StoredEvent[] }
    return { ...page, data: page.data.map(parsed) }
  }
}

function parsed(event: StoredEvent): Event {
  return { ...event, data: JSON.parse(event.data) as unknown }
}
