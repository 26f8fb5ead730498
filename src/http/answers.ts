import type { EngineClock } from '../contracts/clock.ts'
import type { Operation } from '../operations/operation.ts'
import { lazy } from '../runtime/lazy.ts'
import type { ConfigDocument } from '../schema/config.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { Created, StoredAnswer } from '../services/use-cases.ts'
import type { PageOf } from '../surface/lists.ts'
import { json, refusalOf } from './respond.ts'

const documents = lazy(() => import('./configuration-document.ts'))
const pages = lazy(() => import('./page-answer.ts'))

type Asked = { readonly request: Request; readonly url: URL; readonly clock: EngineClock }

/** The response of an operation whose use case answered this. */
export async function answerOf({ answers, list }: Operation, answer: unknown, asked: Asked): Promise<Response> {
  if (answers[204] !== undefined) return new Response(null, { status: 204 })
  const schema = answers[200] ?? answers[201]
  const rowJson: (row: unknown) => string = schema === 'Event' ? eventJson : JSON.stringify
  if (schema === 'PublishAnswer[]') {
    return json(
      200,
      `[${(answer as readonly StoredAnswer[]).map((entry) => publishJson('error' in entry ? refusalOf(entry.error) : entry)).join(',')}]`,
    )
  }
  if (list) return await (await pages()).pageAnswer(asked, answer as PageOf<object>, rowJson)
  if (schema === 'ConfigDocument') return (await documents()).documentAnswer(answer as ConfigDocument, asked)
  if (answers[201] === undefined) return json(200, rowJson(answer))
  if (answers[200] === undefined) return json(201, answer)
  const { row, created } = answer as Created<unknown>
  return json(created ? 201 : 200, rowJson(row))
}

/** An event whose data stands in it as it was received. */
function eventJson(event: unknown): string {
  const { id, event_type, data, ...rest } = event as StoredEvent // by the schema of the operation
  const head = JSON.stringify({ id, event_type })
  return `${head.slice(0, -1)},"data":${data},${JSON.stringify(rest).slice(1)}`
}

/** Why an entry of many was refused, as the response to a request with this entry alone would say it. */
export type EntryRefusal = ReturnType<typeof refusalOf>

/** The answer to an entry of many. */
export function publishJson(answer: Created<StoredEvent> | EntryRefusal): string {
  if ('row' in answer) return `{"event":${eventJson(answer.row)},"created":${answer.created}}`
  const { status, body } = answer
  return JSON.stringify({ error: { status, ...body } })
}
