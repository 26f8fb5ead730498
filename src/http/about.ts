import type { OpenApiOptions } from '../options.ts'
import type { EventEntry } from '../schema/catalogue.ts'

/** What the host says of the API, beside the API's routes. */
export interface About {
  readonly events?: Readonly<Record<string, EventEntry>>
  /** The path prefix of the API. */
  readonly basePath?: string
  readonly publicUrl?: string | undefined
  readonly openapi?: OpenApiOptions | undefined
}
