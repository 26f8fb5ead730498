import { sliceElements, sliceProperty } from '../core/json-slice.ts'
import { lazy } from '../runtime/lazy.ts'
import { isPlainObject } from '../schema/fields.ts'
import { JsonText } from '../schema/json-text.ts'
import { readJson, readText, type Sent } from './read.ts'
import type { Call } from './route.ts'

const documents = lazy(() => import('./configuration-document.ts'))

type Given = Sent & Pick<Call, 'clock'>
type Read = (given: Given) => Promise<unknown>

/** Inputs that are more than a JSON body, by schema. */
const inputs: Readonly<Record<string, Read>> = {
  async EventInput(given) {
    const { text, value } = await readJson(given)
    return withDataText(text, value, isPlainObject)
  },
  async EventBatch(given) {
    const { text, value } = await readJson(given)
    if (!Array.isArray(value)) return value
    return sliceElements(text)!.map((each, i) => withDataText(each, value[i], isPlainObject)) // the text is an array
  },
  async TestInput(given) {
    const { text, value } = await readJson(given, { optional: true })
    return withDataText(text, value, (data) => data !== undefined)
  },
  ReplayInput: optionalJson,
  RotateInput: optionalJson,
  async ConfigDocument(given) {
    const { parseDocument } = await documents()
    return await parseDocument(given, await readText(given.request, given.maxBodyBytes))
  },
}

async function optionalJson(given: Given): Promise<unknown> {
  return (await readJson(given, { optional: true })).value
}

/** The input of an operation from the body of a request; the use case validates it. */
export async function readInput(schema: string, given: Given): Promise<unknown> {
  const read = inputs[schema]
  return read === undefined ? (await readJson(given)).value : await read(given)
}

/** A body whose `data` is the very text that came: parsed and written again, it could differ. */
function withDataText(text: string, value: unknown, isData: (data: unknown) => boolean): unknown {
  const data = isPlainObject(value) && isData(value['data']) ? sliceProperty(text, 'data') : null
  return data === null ? value : { ...(value as object), data: new JsonText(data) }
}
