import type { Document, Version } from '../schema.ts'
import { documents as draft04 } from './draft-04.ts'
import { documents as draft06 } from './draft-06.ts'
import { documents as draft07 } from './draft-07.ts'
import { documents as draft201909 } from './draft-2019-09.ts'
import { documents as draft202012 } from './draft-2020-12.ts'
import { documents as openapi30 } from './openapi-3.0.ts'

/** The meta-schema of each version, first the one that describes a schema as a whole. */
export const metaSchemas: Readonly<Record<Version, readonly [Document, ...Document[]]>> = {
  'draft-04': draft04,
  'draft-06': draft06,
  'draft-07': draft07,
  'draft-2019-09': draft201909,
  'draft-2020-12': draft202012,
  'openapi-3.0': openapi30,
}
