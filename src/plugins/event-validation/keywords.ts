import { withBounds } from '../../core/openapi-schema.ts'
import type { Document } from './schema.ts'

/** The draft that brought a keyword; those that are not here were in draft-04. */
const since: ReadonlyMap<string, number> = new Map([
  ['const', 6],
  ['contains', 6],
  ['propertyNames', 6],
  ['if', 7],
  ['dependentRequired', 2019],
  ['dependentSchemas', 2019],
  ['maxContains', 2019],
  ['minContains', 2019],
  ['unevaluatedItems', 2019],
  ['unevaluatedProperties', 2019],
  ['prefixItems', 2020],
])

/** The keywords of a schema that the schema's draft knows, written as draft 2020-12 writes them. */
export function keywordsOf(schema: Document, draft: number): Document {
  const known = Object.fromEntries(Object.entries(schema).filter(([keyword]) => draft >= (since.get(keyword) ?? 4)))
  const bounded = draft === 4 ? withBounds(known) : known
  return draft < 2020 && Array.isArray(bounded.items)
    ? { ...bounded, prefixItems: bounded.items, items: bounded.additionalItems }
    : bounded
}
