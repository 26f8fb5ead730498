import type { Context } from '../../context.ts'
import { alive, configOfSecrets, expiringKind, firstExpiry, secretsOf } from '../../core/expiring-secrets.ts'
import { allWorkspaces } from './all-workspaces.ts'

/** Removes the signing secrets that have ended from these workspaces, or from all. */
export async function removeExpired(ctx: Context, workspaceIds?: Iterable<string>): Promise<void> {
  for await (const workspaceId of workspaceIds ?? allWorkspaces(ctx)) {
    const current = await ctx.storage.configuration(workspaceId)
    const now = ctx.clock.now()
    for (const { row, revision } of current?.plugins ?? []) {
      if (row.name !== expiringKind || firstExpiry(row.config) > now) continue
      const secrets = configOfSecrets(alive(secretsOf(row.config), now))
      const after = { ...row, config: { ...row.config, secrets }, updated_at: now }
      // Where somebody wrote the row meanwhile, the next minute looks again.
      await ctx.storage.plugins.update(workspaceId, after, revision)
    }
  }
}
