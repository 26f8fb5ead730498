import type { Context } from '../../context.ts'
import type { Page } from '../../contracts/storage/list.ts'
import type { Workspace } from '../../schema/workspace.ts'

const pageSize = 100

/**
 * All workspaces, a page at a time. A workspace that is made meanwhile comes too, since ids grow; a workspace whose id
 * the host chose may be missed.
 */
export async function* workspaceRows(ctx: Context): AsyncGenerator<Workspace> {
  let after: string | null = null
  for (;;) {
    const query = { limit: pageSize, page: null, after, before: null, descending: false }
    const page: Page<Workspace> = await ctx.storage.workspaces.list(query)
    yield* page.rows
    after = page.rows.at(-1)?.id ?? null
    if (!page.followed || after === null) return
  }
}

/** Their ids. */
export async function* allWorkspaces(ctx: Context): AsyncGenerator<string> {
  for await (const { id } of workspaceRows(ctx)) yield id
}
