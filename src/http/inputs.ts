import { sliceElements, sliceProperty } from '../core/json-slice.ts'
import { lazy } from '../runtime/lazy.ts'
import { isPlainObject } from '../schema/fields.ts'
import { JsonText } from '../schema/json-text.ts'
import { readJson, readText } from './read.ts'

const documents = lazy(() => import('./configuration-document.ts'))

type Read = (request: Request, maxBytes: number) => Promise<unknown>

/** Inputs that are more than a JSON body, by schema. */
const inputs: Readonly<Record<string, Read>> = {
  async EventInput(request, maxBytes) {
    const { text, value } = await readJson(request, maxBytes)
    return withDataText(text, value, isPlainObject)
  },
  async EventBatch(request, maxBytes) {
    const { text, value } = await readJson(request, maxBytes)
    if (!Array.isArray(value)) return value
    return sliceElements(text)!.map((each, i) => withDataText(each, value[i], isPlainObject)) // the text is an array
  },
  async TestInput(request, maxBytes) {
    const { text, value } = await readJson(request, maxBytes, { optional: true })
    return withDataText(text, value, (data) => data !== undefined)
  },
  ReplayInput: optionalJson,
  RotateInput: optionalJson,
  async ConfigDocument(request, maxBytes) {
    const { parseDocument } = await documents()
    return await parseDocument(await readText(request, maxBytes), request.headers.get('content-type'))
  },
}

async function optionalJson(request: Request, maxBytes: number): Promise<unknown> {
  return (await readJson(request, maxBytes, { optional: true })).value
}

/** The input of an operation from the body of a request; the use case validates it. */
export async function readInput(schema: string, request: Request, maxBytes: number): Promise<unknown> {
  const read = inputs[schema]
  return read === undefined ? (await readJson(request, maxBytes)).value : await read(request, maxBytes)
}

/** A body whose `data` is the very text that came: parsed and written again, it could differ. */
function withDataText(text: string, value: unknown, isData: (data: unknown) => boolean): unknown {
  const data = isPlainObject(value) && isData(value['data']) ? sliceProperty(text, 'data') : null
  return data === null ? value : { ...(value as object), data: new JsonText(data) }
}
