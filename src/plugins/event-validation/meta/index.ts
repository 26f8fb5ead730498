import type { Document, Version } from '../schema.ts'
import draft04 from './draft-04.json' with { type: 'json' }
import draft06 from './draft-06.json' with { type: 'json' }
import draft07 from './draft-07.json' with { type: 'json' }
import draft201909 from './draft-2019-09.json' with { type: 'json' }
import draft202012 from './draft-2020-12.json' with { type: 'json' }
import openapi30 from './openapi-3.0.json' with { type: 'json' }

/** First the document that describes a schema as a whole, then the documents of the vocabularies. */
type Documents = readonly [Document, ...Document[]]

/**
 * The meta-schema of each version, as published at https://json-schema.org/draft/2020-12/schema and so on; of OpenAPI 3.0
 * the Schema Object at https://spec.openapis.org/oas/3.0/schema/2019-04-02.
 */
export const metaSchemas = {
  'draft-04': draft04,
  'draft-06': draft06,
  'draft-07': draft07,
  'draft-2019-09': draft201909,
  'draft-2020-12': draft202012,
  'openapi-3.0': openapi30,
} as unknown as Readonly<Record<Version, Documents>> // JSON files are typed by what stands in them, without tuples
