import { sliceElements, sliceProperty } from '../core/json-slice.ts'
import { lazy } from '../runtime/lazy.ts'
import { isPlainObject } from '../schema/fields.ts'
import { JsonText } from '../schema/json-text.ts'
import { readJson, readText } from './read.ts'
import type { Call } from './route.ts'

const documents = lazy(() => import('./configuration-document.ts'))

type Given = Pick<Call, 'request' | 'maxBodyBytes' | 'clock'>
type Read = (given: Given) => Promise<unknown>

/** Inputs that are more than a JSON body, by schema. */
const inputs: Readonly<Record<string, Read>> = {
  async EventInput({ request, maxBodyBytes }) {
    const { text, value } = await readJson(request, maxBodyBytes)
    return withDataText(text, value, isPlainObject)
  },
  async EventBatch({ request, maxBodyBytes }) {
    const { text, value } = await readJson(request, maxBodyBytes)
    if (!Array.isArray(value)) return value
    return sliceElements(text)!.map((each, i) => withDataText(each, value[i], isPlainObject)) // the text is an array
  },
  async TestInput({ request, maxBodyBytes }) {
    const { text, value } = await readJson(request, maxBodyBytes, { optional: true })
    return withDataText(text, value, (data) => data !== undefined)
  },
  ReplayInput: optionalJson,
  RotateInput: optionalJson,
  async ConfigDocument({ request, maxBodyBytes, clock }) {
    const { parseDocument } = await documents()
    const text = await readText(request, maxBodyBytes)
    return await parseDocument(clock, text, request.headers.get('content-type'))
  },
}

async function optionalJson({ request, maxBodyBytes }: Given): Promise<unknown> {
  return (await readJson(request, maxBodyBytes, { optional: true })).value
}

/** The input of an operation from the body of a request; the use case validates it. */
export async function readInput(schema: string, given: Given): Promise<unknown> {
  const read = inputs[schema]
  return read === undefined ? (await readJson(given.request, given.maxBodyBytes)).value : await read(given)
}

/** A body whose `data` is the very text that came: parsed and written again, it could differ. */
function withDataText(text: string, value: unknown, isData: (data: unknown) => boolean): unknown {
  const data = isPlainObject(value) && isData(value['data']) ? sliceProperty(text, 'data') : null
  return data === null ? value : { ...(value as object), data: new JsonText(data) }
}
