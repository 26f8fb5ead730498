import type { Context } from '../../context.ts'

const pageSize = 100

/** The ids of all workspaces, a page at a time. One that is made meanwhile comes too, since ids grow; a host's own id may not. */
export async function* allWorkspaces(ctx: Context): AsyncGenerator<string> {
  let after: string | null = null
  for (;;) {
    const query = { limit: pageSize, page: null, after, before: null, descending: false }
    const page: { rows: readonly { id: string }[]; followed: boolean } = await ctx.storage.workspaces.list(query)
    for (const { id } of page.rows) yield id
    after = page.rows.at(-1)?.id ?? null
    if (!page.followed || after === null) return
  }
}
