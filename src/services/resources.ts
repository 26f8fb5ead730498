import type { Context } from '../context.ts'
import type { Awaitable } from '../contracts/plugin.ts'
import type { Bounds, Collection, Inserted, PluginQuery } from '../contracts/storage/configuration.ts'
import { merge } from '../core/merge.ts'
import { notFound } from '../errors.ts'
import type { ListInput, Parameters } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import { listPage } from './listing.ts'
import type { ResourceUseCases } from './use-cases.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { refusalOf } from './taken.ts'
import { withWriteLock } from '../runtime/write-lock.ts'
import { boundsOf, resolveWorkspace, unknownWorkspace, writableWorkspace } from './resolve-workspace.ts'

interface Resource {
  readonly id: string
  readonly created_at: number
  readonly updated_at: number
}

/** A row as its input describes it; `id` is null where the client chose none. */
export interface Described<Row extends Resource> {
  readonly id: string | null
  readonly fields: Omit<Row, keyof Resource>
}

export interface ResourceKind<Row extends Resource> {
  readonly noun: 'endpoints' | 'sources' | 'plugins'
  readonly collection: Collection<Row, PluginQuery>
  readonly parameters: Parameters
  /** Validates a whole input. `existing` is the row that it replaces, whose generated parts it keeps. */
  describe(input: unknown, existing: Row | null, workspaceId: string): Awaitable<Described<Row>>
  /** Stores a new row; the collection's insert unless told. */
  insert?(workspaceId: string, row: Row, bounds: Bounds): Promise<Inserted>
}

/** Create, read, update and delete, the same for every kind of configuration row. */
export function resourceService<Row extends Resource, Input, Query extends ListInput>(
  ctx: Context,
  { noun, collection, parameters, describe, insert }: ResourceKind<Row>,
): ResourceUseCases<Row, Input, Query> {
  // Creates that come side by side ask once.
  const writable = singleFlight((workspace) => writableWorkspace(ctx, workspace))
  const { secrets } = ctx
  return {
    async list(workspace, query) {
      const { id } = await resolveWorkspace(ctx, workspace)
      return await listPage<Row>(parameters, query ?? {}, async (asked) =>
        secrets.maskedPage(id, noun, await collection.list(id, asked)),
      )
    },

    async create(workspace, input) {
      const { id: workspaceId } = await writable.ask(workspace)
      const given = await secrets.given(workspaceId, noun, input, null)
      const { id, fields } = await describe(given, null, workspaceId)
      const now = ctx.clock.now()
      const row = assemble<Row>(id ?? ctx.newId(), fields, now, now)
      const outcome = await (insert ?? collection.insert)(
        workspaceId,
        await secrets.sealed(workspaceId, noun, row),
        boundsOf(ctx),
      )
      if (outcome === 'written') return row
      throw outcome === 'missing' ? unknownWorkspace(workspace) : await refusalOf(ctx, workspaceId, outcome)
    },

    async get(workspace, id) {
      const { id: workspaceId } = await resolveWorkspace(ctx, workspace)
      const found = idPattern.test(id) ? await collection.get(workspaceId, id) : null
      if (found === null) throw notFound()
      return await secrets.masked(workspaceId, noun, found.row)
    },

    async update(workspace, id, input) {
      const { id: workspaceId } = await resolveWorkspace(ctx, workspace)
      if (!idPattern.test(id)) throw notFound()
      return await withWriteLock(ctx.storage, workspaceId, async () => {
        const found = await collection.get(workspaceId, id)
        if (found === null) throw notFound()
        const readable = await secrets.readable(workspaceId, noun, found.row)
        const known = { stored: found.row, readable }
        const given = await secrets.given(workspaceId, noun, input, known)
        const { fields } = await describe(merge(readable, given), readable, workspaceId)
        const clear = assemble<Row>(id, fields, found.row.created_at, ctx.clock.now())
        const row = await secrets.sealed(workspaceId, noun, clear, known)
        const outcome = await collection.update(workspaceId, row, found.revision, boundsOf(ctx))
        if (outcome === 'written') return await secrets.masked(workspaceId, noun, row)
        if (outcome === 'conflict') return outcome
        throw outcome === 'missing' ? notFound() : await refusalOf(ctx, workspaceId, outcome)
      })
    },

    async delete(workspace, id) {
      const { id: workspaceId } = await resolveWorkspace(ctx, workspace)
      if (idPattern.test(id)) await collection.delete(workspaceId, id)
    },
  }
}

/** A row in the order of keys in which it is answered. */
function assemble<Row extends Resource>(
  id: string,
  fields: Omit<Row, keyof Resource>,
  created_at: number,
  updated_at: number,
): Row {
  return { id, ...fields, created_at, updated_at } as unknown as Row // Omit and its keys make the row whole again
}
