import { isChange, subjectOf } from './operations/changes.ts'
import { withEach } from './operations/each.ts'
import { functionOf, functionsOf } from './operations/functions-of.ts'
import type { Operation, OperationName } from './operations/operation.ts'
import { withSentences } from './operations/with-sentences.ts'
import type { Event, PublishAnswer, Published, StoredEvent } from './schema/event.ts'
import type { Created, Services, StoredAnswer } from './services/use-cases.ts'
import type { Changed } from './services/tell-change.ts'
import type { ServiceFunctions } from './surface/functions.ts'

/** Wraps each function, to refuse calls for instance. */
export type Guard = <Args extends readonly unknown[], Answer>(
  call: (...args: Args) => Promise<Answer>,
) => (...args: Args) => Promise<Answer>

/** The id of the workspace that has an id or a name. @throws PosthornError `unknown_workspace` */
export type WorkspaceIds = (idOrName: string, operation: OperationName) => string | Promise<string>

/** Tells of a call that changed or revealed something. */
export type Tell = (change: Omit<Changed, 'actor'>) => void

/** The functions of `createPosthorn`: those of the table, with the parsed `data` of events. */
export function serviceFunctions(
  services: Services,
  workspaceIds: WorkspaceIds,
  tell: Tell,
  guard: Guard = (call) => call,
): ServiceFunctions {
  const functions = functionsOf((name, operation) => {
    const call = functionOf(services, name)
    const show = shownBy(operation)
    const done = (args: readonly unknown[], answer: unknown): unknown => {
      if (isChange(operation, args, answer)) tell({ operation: name, ...subjectOf(operation, args, answer) })
      return show(answer)
    }
    if (!operation.http.includes('{P}')) return guard(async (...args) => done(args, await call(...args)))
    return guard(async (...args) => {
      const id = workspaceIds(args[0] as string, name)
      args[0] = typeof id === 'string' ? id : await id
      return done(args, await call(...args))
    })
  })
  const raw = async (workspace: string, id: string): Promise<string> =>
    (await services.events.get(await workspaceIds(workspace, 'events.get'), id)).data
  const spoken = withSentences({ ...functions, events: { ...functions.events, raw: guard(raw) } })
  return withEach(spoken)
}

/** How the answer of a use case is shown to the host. */
function shownBy({ answers, list }: Operation): (answer: unknown) => unknown {
  const isEvent = answers[200] === 'Event'
  if (answers[200] === 'PublishAnswer[]') return (answer) => (answer as readonly StoredAnswer[]).map(publishAnswer)
  if (answers[201] !== undefined && answers[200] !== undefined) {
    return (answer) => {
      const { row, created } = answer as Created<object>
      return isEvent ? published(row as StoredEvent, created) : row
    }
  }
  if (!isEvent) return (answer) => answer
  if (list !== true) return (answer) => parsed(answer as StoredEvent)
  return (answer) => {
    const page = answer as { readonly data: readonly StoredEvent[] }
    return { ...page, data: page.data.map(parsed) }
  }
}

function publishAnswer(answer: StoredAnswer): PublishAnswer {
  return 'error' in answer ? answer : { event: parsed(answer.row), created: answer.created }
}

function parsed(event: StoredEvent): Event {
  return { ...event, data: JSON.parse(event.data) as unknown }
}

/** All keys are written down: V8 takes twenty times as long to add a key to a spread. */
function published(event: StoredEvent, created: boolean): Published {
  const { id, event_type, ingested_at, unique_id, created_at, updated_at } = event
  const data: unknown = JSON.parse(event.data)
  return { id, event_type, data, ingested_at, unique_id, created_at, updated_at, created }
}
