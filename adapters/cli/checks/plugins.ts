import type { CursorPage, ListInput, OffsetPage } from 'posthorn'

import { packagesOf, pluginKinds } from '../plugin-kinds.ts'
import { type Check, ok, problem } from './check.ts'

const builtIn = [
  'basic-auth',
  'connect-auth',
  'hmac-auth',
  'key-auth',
  'standard-webhooks',
  'webhookx-signature',
] as const

/** Rows of plugins that a process with these settings cannot run. */
export const pluginsCheck: Check = async ({ posthorn, settings, code }) => {
  const { kinds } = await pluginKinds(settings.plugins)
  const known = new Set<string>([...builtIn, ...[...kinds, ...(code.pluginKinds ?? [])].map(({ name }) => name)])
  const missing = new Map<string, number>()
  for (const workspace of await all((query) => posthorn.workspaces.list(query))) {
    for (const { name, enabled } of await all((query) => posthorn.plugins.list(workspace.id, query))) {
      if (enabled && !known.has(name)) missing.set(name, (missing.get(name) ?? 0) + 1)
    }
  }
  if (missing.size === 0) return [ok('plugins', 'Every plugin that is stored can be run.')]
  return [...missing].map(([name, count]) =>
    problem(
      'plugins',
      `${count} enabled ${count === 1 ? 'plugin' : 'plugins'} of the name ${name} cannot be run: requests get 500, deliveries fail.`,
      `${remedyOf(name)}, or disable the rows.`,
    ),
  )
}

function remedyOf(name: string): string {
  const packages = packagesOf(name)
  return packages === null
    ? 'Pass it in pluginKinds of posthorn.config.js'
    : `Run npm i ${packages.join(' ')}, name it in POSTHORN_PLUGINS where that is set`
}

/** All rows of a list, page by page. */
async function all<Row extends { readonly id: string }>(
  list: (query: ListInput) => Promise<CursorPage<Row> | OffsetPage<Row>>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let after: string | undefined; ; after = rows.at(-1)!.id) {
    const page = await list({ limit: 1000, sort: 'id.asc', ...(after !== undefined && { after }) })
    rows.push(...page.data)
    if ((page as CursorPage<Row>).next === null || page.data.length === 0) return rows // a list with a limit
  }
}
