import type { Context } from '../context.ts'
import { dataSchema } from '../core/data-schema.ts'
import type { EventTypeService } from '../surface/event-types.ts'

/** Tells the catalogue of the host. */
export function eventTypeService(ctx: Context): EventTypeService {
  return {
    async list(_workspaceId, { hidden: withHidden = false } = {}) {
      const entries = Object.entries(ctx.catalogue.entries).filter(([, { hidden = false }]) => withHidden || !hidden)
      return entries.map(
        ([event_type, { schema, description, group, deprecated = false, hidden = false, example }]) => ({
          event_type,
          description: description ?? null,
          group: group ?? null,
          deprecated,
          hidden,
          example: example ?? null,
          schema: dataSchema(schema),
        }),
      )
    },
  }
}
