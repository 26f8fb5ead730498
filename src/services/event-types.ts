import type { Context } from '../context.ts'
import { volumeOf } from '../core/counts.ts'
import { dataSchema } from '../core/data-schema.ts'
import { dayMs, hourMs, startOf } from '../core/periods.ts'
import type { EventTypeService } from '../surface/event-types.ts'
import { foldNotes } from './fold-notes.ts'

/** Tells the catalogue of the host, with what became of it in a workspace. */
export function eventTypeService(ctx: Context): EventTypeService {
  return {
    async list(workspaceId, { hidden: withHidden = false } = {}) {
      const entries = Object.entries(ctx.catalogue.entries).filter(([, { hidden = false }]) => withHidden || !hidden)
      const names = entries.map(([name]) => name)
      const volumes = names.length === 0 ? new Map<string, number>() : await volumesOf(ctx, workspaceId, names)
      return entries.map(
        ([event_type, { schema, description, group, deprecated = false, hidden = false, example }]) => ({
          event_type,
          description: description ?? null,
          group: group ?? null,
          deprecated,
          hidden,
          example: example ?? null,
          schema: dataSchema(schema),
          volume_24h: volumes.get(event_type) ?? 0,
        }),
      )
    },
  }
}

/** Attempts of each type that ended in the last 24 hours, the hour that runs included. */
async function volumesOf(
  ctx: Context,
  workspaceId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  await ctx.clock.ready()
  await foldNotes(ctx)
  const to = startOf(ctx.clock.now(), hourMs) + hourMs
  const query = { workspaceId, step: 'hour', from: to - dayMs, to } as const
  const volumes = new Map<string, number>()
  for (const { group, counts } of await ctx.storage.statistics.sums(query, { by: 'event_type', names })) {
    if (group !== null) volumes.set(group, (volumes.get(group) ?? 0) + volumeOf(counts))
  }
  return volumes
}
