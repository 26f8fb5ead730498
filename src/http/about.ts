import type { OpenApiOptions } from '../options.ts'
import type { EventCatalogue } from '../schema/catalogue.ts'

/** What the host says of the API, beside its routes. */
export interface About {
  readonly events?: EventCatalogue
  /** The path prefix of the API. */
  readonly basePath?: string
  readonly publicUrl?: string | undefined
  readonly openapi?: OpenApiOptions | undefined
}
