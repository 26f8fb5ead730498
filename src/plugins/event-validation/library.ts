import { type Making, spendOn, tooMuch } from './making.ts'
import { type Dialect, type Document, isDocument, isSchema, type Schema, subschemas } from './schema.ts'

/** A schema with its place: the URI of the resource, and the path to the schema from the root of the document. */
export interface Place {
  readonly schema: Schema
  readonly base: string
  readonly path: readonly string[]
}

/** All schemas that references may lead to. Nothing is ever fetched. */
export interface Library {
  /** Takes a document in; answers its root. */
  add(document: Schema, uri: string): Place
  /**
   * The place to which a reference leads from a resource, and the anchor if the reference names an anchor; null when it
   * leads nowhere.
   */
  resolve(reference: string, base: string): { readonly place: Place; readonly anchor: string | null } | null
  place(schema: Document): Place | undefined
  /** The places of all schemas in a document, itself included. */
  within(document: Schema): readonly Place[]
  /** The schema of a resource that has this `$dynamicAnchor`; the root that has `$recursiveAnchor` for the name ''. */
  dynamic(base: string, name: string): Place | undefined
}

/** Each level of a schema is one step of the path, or two. */
const maxDepth = 1000

export function makeLibrary({ id: idKeyword, draft }: Dialect, making: Making): Library {
  const places = new Map<Document, Place>()
  const resources = new Map<string, Place>()
  const anchors = new Map<string, Place>()
  const dynamics = new Map<string, Place>()

  function take(schema: Schema, outer: string, path: readonly string[]): Place {
    if (typeof schema === 'boolean') return { schema, base: outer, path }
    const known = places.get(schema)
    if (known !== undefined) return known
    spendOn(making, 'size', 10 + 2 * path.length)
    if (path.length > maxDepth) throw tooMuch(making)
    const id = schema[idKeyword]
    const alone = draft <= 7 && '$ref' in schema
    const [own, fragment] = typeof id === 'string' && !alone ? splitUri(id, outer, making) : [outer, '']
    const place = { schema, base: own, path }
    places.set(schema, place)
    if (own !== outer && !resources.has(own)) resources.set(own, place)
    if (fragment !== '' && draft <= 7) anchors.set(`${own}#${fragment}`, place)
    if (draft >= 2019 && typeof schema.$anchor === 'string') anchors.set(`${own}#${schema.$anchor}`, place)
    if (draft >= 2020 && typeof schema.$dynamicAnchor === 'string') {
      anchors.set(`${own}#${schema.$dynamicAnchor}`, place)
      dynamics.set(`${own}#${schema.$dynamicAnchor}`, place)
    }
    if (draft === 2019 && schema.$recursiveAnchor === true) dynamics.set(`${own}#`, place)
    for (const [way, inner] of subschemas(schema)) take(inner, own, [...path, ...way])
    return place
  }

  function walk(root: Place, pointer: string): Place | null {
    let value: unknown = root.schema
    let { base } = root
    const steps = pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    for (const step of steps) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
      value = (value as Record<string, unknown>)[step]
      if (isDocument(value)) base = places.get(value)?.base ?? base
    }
    return isSchema(value) ? take(value, base, [...root.path, ...steps]) : null
  }

  return {
    add(document, uri) {
      const place = take(document, uri, [])
      resources.set(uri, place)
      return place
    },
    resolve(reference, base) {
      const [uri, fragment] = splitUri(reference, base, making)
      const root = resources.get(uri)
      if (root === undefined) return null
      if (fragment === '') return { place: root, anchor: null }
      if (!fragment.startsWith('/')) {
        const place = anchors.get(`${uri}#${fragment}`)
        return place === undefined ? null : { place, anchor: fragment }
      }
      const place = walk(root, fragment)
      return place === null ? null : { place, anchor: null }
    },
    place: (schema) => places.get(schema),
    within(document) {
      const found: Place[] = []
      const gather = (schema: Schema) => {
        const place = isDocument(schema) ? places.get(schema) : undefined
        if (place === undefined) return
        found.push(place)
        for (const [, inner] of subschemas(schema as Document)) gather(inner)
      }
      gather(document)
      return found
    },
    dynamic: (base, name) => dynamics.get(`${base}#${name}`),
  }
}

/** An absolute URI without fragment, and the decoded fragment. What is no URI leads nowhere. */
function splitUri(reference: string, base: string, making: Making): readonly [uri: string, fragment: string] {
  spendOn(making, 'references', 20 + (reference.length + base.length) / 2)
  try {
    const url = new URL(reference, base)
    const fragment = decodeURIComponent(url.hash.slice(1))
    url.hash = ''
    return [url.href, fragment]
  } catch {
    return ['', '']
  }
}
