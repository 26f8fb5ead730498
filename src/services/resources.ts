import type { Context } from '../context.ts'
import type { Awaitable } from '../contracts/awaitable.ts'
import type { Bounds, Collection, Inserted, PluginQuery } from '../contracts/storage/configuration.ts'
import type { Disabling } from '../core/endpoint-row.ts'
import { merge, mergePatch } from '../core/merge.ts'
import { rowBytes } from '../core/row-bytes.ts'
import { notFound } from '../errors.ts'
import type { ListInput, Parameters } from '../schema/page.ts'
import { idPattern } from '../schema/shared.ts'
import { listPage, sizedPage } from './listing.ts'
import type { ResourceUseCases } from './use-cases.ts'
import { refusalOf } from './violation-error.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { withWriteLock } from '../runtime/write-lock.ts'
import { boundsOf, unknownWorkspace, writeInto } from './resolve-workspace.ts'

interface Resource {
  readonly id: string
  readonly created_at: number
  readonly updated_at: number
}

/** The fields of a row that an input may set: all but the fields that only Posthorn writes. */
export type Fields<Row extends Resource> = Omit<Row, keyof Resource | keyof Disabling>

/** A row as the input describes it; `id` is null where the client chose none. */
export interface Described<Row extends Resource> {
  readonly id: string | null
  readonly fields: Fields<Row>
}

export interface ResourceKind<Row extends Resource> {
  readonly noun: 'endpoints' | 'sources' | 'plugins'
  readonly collection: Collection<Row, PluginQuery>
  readonly parameters: Parameters
  /** Validates a whole input. `existing` is the row that it replaces, whose generated parts it keeps. */
  describe(input: unknown, existing: Row | null, workspaceId: string): Awaitable<Described<Row>>
  /** Stores a new row. Default: `insert` of the collection. */
  insert?(workspaceId: string, row: Row, bounds: Bounds): Promise<Inserted>
  /** Adds what Posthorn writes by itself, and puts the members in their order. `before` is the row that this row replaces. */
  written?(row: Omit<Row, keyof Disabling>, before: Row | null): Row
  /** Further fields of the answer to an update. */
  told?(before: Row, after: Row): Partial<Row>
  /** Called for a row that was replaced or deleted; `after` is null when it was deleted. */
  replaced?(before: Row, after: Row | null): Promise<void>
}

/** Create, read, update and delete, the same for every kind of configuration row. */
export function resourceService<Row extends Resource, Input, Query extends ListInput>(
  ctx: Context,
  kind: ResourceKind<Row>,
): ResourceUseCases<Row, Input, Query> {
  const { secrets } = ctx
  const { noun, collection, parameters, describe, insert, replaced } = kind
  // Of many creates at once each would read the same workspace, and take a connection from other tenants for that.
  const workspaces = singleFlight((workspaceId) => ctx.storage.workspaces.get(workspaceId))
  return {
    async list(workspaceId, query) {
      return await listPage<Row>(parameters, query ?? {}, async (asked) =>
        secrets.maskedPage(workspaceId, noun, await sizedPage(asked, (sized) => collection.list(workspaceId, sized))),
      )
    },

    async create(workspaceId, input) {
      const given = await secrets.given(workspaceId, noun, input, null)
      const { id, fields } = await describe(given, null, workspaceId)
      const row = assemble(ctx, kind, id ?? ctx.newId(), fields, null)
      const sealed = await secrets.sealed(workspaceId, noun, row)
      // Among the limits of a workspace only the limit on endpoints is about rows.
      const around = noun === 'endpoints' ? await workspaces.ask(workspaceId) : null
      const bounds = boundsOf(ctx, around?.row)
      const outcome = await ctx.room.write(workspaceId, rowBytes(sealed), () =>
        writeInto<Inserted>(ctx, workspaceId, () => (insert ?? collection.insert)(workspaceId, sealed, bounds)),
      )
      if (outcome === 'written') return row
      throw outcome === 'missing' ? unknownWorkspace(workspaceId) : await refusalOf(ctx, workspaceId, outcome)
    },

    async get(workspaceId, id) {
      const found = idPattern.test(id) ? await collection.get(workspaceId, id) : null
      if (found === null) throw notFound()
      return await secrets.masked(workspaceId, noun, found.row)
    },

    update: (workspaceId, id, input) => change(ctx, kind, workspaceId, id, (row, given) => merge(row, given), input),
    patch: (workspaceId, id, patch) => change(ctx, kind, workspaceId, id, mergePatch, patch),

    async delete(workspaceId, id) {
      if (!idPattern.test(id)) return
      const found = replaced === undefined ? null : await collection.get(workspaceId, id)
      await collection.delete(workspaceId, id)
      if (found !== null) await replaced?.(found.row, null)
    },
  }
}

/** Writes what `changed` makes of a row and an input; again where somebody else wrote the row at the same moment. */
async function change<Row extends Resource>(
  ctx: Context,
  kind: ResourceKind<Row>,
  workspaceId: string,
  id: string,
  changed: (row: Row, input: unknown) => unknown,
  input: unknown,
): Promise<Row> {
  const { noun, collection, describe, replaced, told } = kind
  const { secrets } = ctx
  if (!idPattern.test(id)) throw notFound()
  return await withWriteLock(ctx.storage, workspaceId, async () => {
    const found = await collection.get(workspaceId, id)
    if (found === null) throw notFound()
    const readable = await secrets.readable(workspaceId, noun, found.row)
    const known = { stored: found.row, readable }
    const given = await secrets.given(workspaceId, noun, input, known)
    const { fields } = await describe(changed(readable, given), readable, workspaceId)
    const row = await secrets.sealed(workspaceId, noun, assemble(ctx, kind, id, fields, found.row), known)
    const outcome = await ctx.room.write(
      workspaceId,
      rowBytes(row) - rowBytes(found.row),
      () => collection.update(workspaceId, row, found.revision, boundsOf(ctx)), // the number of rows stays
    )
    if (outcome === 'conflict') return outcome
    if (outcome !== 'written') throw outcome === 'missing' ? notFound() : await refusalOf(ctx, workspaceId, outcome)
    await replaced?.(found.row, row)
    return { ...(await secrets.masked(workspaceId, noun, row)), ...told?.(found.row, row) }
  })
}

/** A row in the order of keys in which it is answered. `before` is the row that this row replaces. */
function assemble<Row extends Resource>(
  ctx: Context,
  { written }: ResourceKind<Row>,
  id: string,
  fields: Fields<Row>,
  before: Row | null,
): Row {
  const now = ctx.clock.now()
  const row = { id, ...fields, created_at: before?.created_at ?? now, updated_at: now } as unknown as Row // the fields are all but these
  return written?.(row, before) ?? row
}
