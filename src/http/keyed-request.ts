import { statusOfCode, PosthornError } from '../errors.ts'
import { hexOf } from '../core/encoding.ts'
import { maskOf } from '../core/mask.ts'
import { functionOf } from '../operations/functions-of.ts'
import type { Operation, OperationName } from '../operations/operation.ts'
import { maxBatchSize } from '../schema/event.ts'
import { isPlainObject } from '../schema/fields.ts'
import type { StoredEvent } from '../schema/event.ts'
import type { EndpointSecret } from '../schema/secrets.ts'
import type { KeyedCall } from '../services/idempotency-keys.ts'
import type { Created, StoredAnswer } from '../services/use-cases.ts'
import { answerOf, type EntryRefusal, publishJson } from './answers.ts'
import { readText } from './read.ts'
import { json, refusalOf } from './respond.ts'
import type { Call } from './route.ts'

/** A request with an `Idempotency-Key`: what it asks for, and how that is done. */
export interface KeyedWork {
  readonly key: string
  readonly call: Call
  readonly name: OperationName
  readonly operation: Operation
  /** The arguments that the path gives. */
  readonly place: readonly unknown[]
  /** Reads the other arguments. */
  read(call: Call): Promise<readonly unknown[]>
  perform(args: readonly unknown[]): Promise<unknown>
}

/**
 * What is stored from the first call on: the ids of the rows that the call creates, so that a call after a lost call
 * finds these rows.
 */
interface Plan {
  readonly ids: readonly string[]
  readonly begunAt: number
}

type EntryNote = readonly [id: string, created: boolean] | EntryRefusal

/**
 * What is stored of an answer: ids of rows, which a repeat reads, or the answer itself where it is a report. Never a
 * secret.
 */
type Kept =
  | { readonly status: number; readonly row: string }
  | { readonly entries: readonly EntryNote[] }
  | { readonly report: unknown }

const repeatedHeaders = { 'idempotent-replayed': 'true' }

/**
 * Does a request once, however often it comes with its key (24 hours). A repeat gets the row as it reads now, secrets
 * masked where reads mask them. When the process of a call died, or the outcome of a call is not known, the next call
 * does the request again, with the same ids for the rows that it creates; rows that exist already are not created
 * twice.
 */
export async function once(work: KeyedWork): Promise<Response> {
  const { call, operation, place, key } = work
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new PosthornError('validation', 'Idempotency-Key: must have 1 to 255 visible ASCII characters')
  }
  const text = await readText(call.request, call.maxBodyBytes)
  const { url, headers } = call.request
  const others = await work.read({ ...call, request: new Request(url, { method: 'POST', headers, body: text }) })
  const keyed = await call.services.takeKey({
    workspace: call.workspace,
    key,
    hash: await digestOf(JSON.stringify([work.name, place, call.url.search, text])),
    note: (newId, now) => planText({ ids: idsFor(operation, others[0], newId), begunAt: now }),
  })
  const { kind, note, isKnown } = keyed.standing
  if (kind === 'another request') return json(422, { message: 'Idempotency-Key: was used with another request' })
  if (kind === 'in flight') {
    return json(409, { message: 'Idempotency-Key: the request is in flight' }, { 'retry-after': '1' })
  }
  if (kind === 'answered') return await repeated(work, JSON.parse(note) as Kept) // written below
  return await done(work, others, keyed, { ...(JSON.parse(note) as Plan), isAgain: isKnown }) // written above
}

function planText(plan: Plan): string {
  return JSON.stringify(plan)
}

/** Does the request and keeps what came of it. */
async function done(
  work: KeyedWork,
  others: readonly unknown[],
  keyed: KeyedCall,
  plan: Plan & { readonly isAgain: boolean },
): Promise<Response> {
  const { operation, call } = work
  let answer: unknown
  try {
    answer = await answerTo(work, others, plan)
  } catch (cause) {
    await (isRefusal(cause) ? keyed.release() : keyed.giveUp())
    throw cause
  }
  const kept = keptOf(operation, answer)
  const isOver = !('entries' in kept) || kept.entries.every((entry) => !('status' in entry) || isFinal(entry.status))
  await (isOver ? keyed.answered(JSON.stringify(kept)) : keyed.giveUp())
  return await answerOf(operation, answer, call)
}

/** What the use case answers. Rows that an earlier call created are read. */
async function answerTo(
  { call, operation, place, perform }: KeyedWork,
  given: readonly unknown[],
  { ids, begunAt, isAgain }: Plan & { readonly isAgain: boolean },
): Promise<unknown> {
  if (ids.length === 0) return await perform([...place, ...given])
  const [input, ...others] = given
  if (operation.input !== 'EventBatch') {
    const row = isAgain ? await rowOf(call, operation, ids[0]!, begunAt) : null // one id for one row
    if (row === null) return await perform([...place, identified(input, ids[0]!), ...others])
    return operation.answers[200] === undefined ? row : { row, created: true }
  }
  const entries = (input as readonly unknown[]).map((entry, i) => identified(entry, ids[i]!)) // an id for each
  const rows = await Promise.all(ids.map(async (id) => (isAgain ? await rowOf(call, operation, id, begunAt) : null)))
  const missing = entries.filter((_, i) => rows[i] === null)
  const answers = (await perform([...place, missing])) as readonly StoredAnswer[]
  let next = 0
  return rows.map((row) => (row === null ? answers[next++]! : { row, created: true }))
}

/** The row that was created for the request; null when it does not exist. */
async function rowOf(call: Call, operation: Operation, id: string, begunAt: number): Promise<object | null> {
  try {
    const row = (await reread(call, operation, id)) as { readonly created_at: number }
    return row.created_at >= begunAt ? row : null // a row that existed before has the id that the client chose
  } catch (cause) {
    if (cause instanceof PosthornError && cause.code === 'not_found') return null
    throw cause
  }
}

/** A row as a read answers it. */
async function reread(call: Call, { answers, http }: Operation, id: string): Promise<unknown> {
  const schema = answers[201] ?? answers[200] ?? ''
  const noun = schema === 'PublishAnswer[]' ? 'events' : `${schema.toLowerCase()}s`
  const get = functionOf(call.services, `${noun}.get` as OperationName) // rows that are created can be read
  return await get(...(http.includes('{P}') ? [call.workspace] : []), id)
}

/** The ids of the rows that an operation is to create; none where it creates no row of this input. */
function idsFor({ answers, input }: Operation, given: unknown, newId: () => string): readonly string[] {
  const idOf = (entry: unknown): string => {
    const id = isPlainObject(entry) ? entry['id'] : null
    return typeof id === 'string' ? id : newId()
  }
  if (input === 'EventBatch') return Array.isArray(given) && given.length <= maxBatchSize ? given.map(idOf) : []
  return answers[201] !== undefined ? [idOf(given)] : []
}

/** An input with the id that the new row is to get. An id that the input has already stays. */
function identified(input: unknown, id: string): unknown {
  return isPlainObject(input) && (input['id'] ?? null) === null ? { ...input, id } : input
}

function keptOf({ answers }: Operation, answer: unknown): Kept {
  const schema = answers[200] ?? answers[201]
  if (schema === 'PublishAnswer[]') {
    const entries = (answer as readonly StoredAnswer[]).map((entry): EntryNote =>
      'error' in entry ? refusalOf(entry.error) : [entry.row.id, entry.created],
    )
    return { entries }
  }
  if (answers[201] !== undefined && answers[200] !== undefined) {
    const { row, created } = answer as Created<{ readonly id: string }>
    return { status: created ? 201 : 200, row: row.id }
  }
  if (answers[201] !== undefined || schema === 'Attempt') {
    return { status: 201, row: (answer as { readonly id: string }).id }
  }
  return { report: schema === 'EndpointSecret' ? masked(answer as EndpointSecret) : answer }
}

function masked({ secret, secrets }: EndpointSecret): EndpointSecret {
  return {
    secret: maskOf(secret),
    secrets: secrets.map((each) => ({ ...each, secret: maskOf(each.secret) })),
  }
}

/** The answer to a request that was done before. */
async function repeated({ call, operation }: KeyedWork, kept: Kept): Promise<Response> {
  if ('report' in kept) return json(200, kept.report, repeatedHeaders)
  if ('entries' in kept) {
    const texts = await Promise.all(kept.entries.map((entry) => entryText(call, operation, entry)))
    return json(200, `[${texts.join(',')}]`, repeatedHeaders)
  }
  const row = await reread(call, operation, kept.row)
  const { answers } = operation
  const hasBoth = answers[201] !== undefined && answers[200] !== undefined
  const response = await answerOf(operation, hasBoth ? { row, created: kept.status === 201 } : row, call)
  for (const [name, value] of Object.entries(repeatedHeaders)) response.headers.set(name, value)
  return response
}

async function entryText(call: Call, operation: Operation, entry: EntryNote): Promise<string> {
  if ('status' in entry) return publishJson(entry)
  const [id, created] = entry
  try {
    return publishJson({ row: (await reread(call, operation, id)) as StoredEvent, created })
  } catch (cause) {
    if (!(cause instanceof PosthornError)) throw cause
    return publishJson(refusalOf(cause))
  }
}

/** Whether the call did nothing, and said why. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof PosthornError && statusOfCode[cause.code] < 500
}

/** Whether a repeat of the entry would be refused for the same reason. */
function isFinal(status: number): boolean {
  return status < 500 && status !== 429
}

async function digestOf(text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
