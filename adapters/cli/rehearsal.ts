import type { ConfigDocument, SyncReport } from 'posthorn'

import { difference, type RowChange } from './difference.ts'
import { pluginKinds } from './plugin-kinds.ts'

/**
 * What a sync changes, row by row, found by doing it in memory: the server answers counts only. Null when what comes out
 * has other counts than the server says, as where the server has plugins that are not known here.
 */
export async function rehearsed(
  before: ConfigDocument,
  document: ConfigDocument,
  report: SyncReport,
): Promise<readonly RowChange[] | null> {
  // A server with `compatible: 'webhookx'` removes the kinds that a document leaves out.
  for (const compatible of [undefined, 'webhookx'] as const) {
    const changes = await inMemory(before, document, report, compatible)
    if (changes !== null) return changes
  }
  return null
}

async function inMemory(
  before: ConfigDocument,
  document: ConfigDocument,
  report: SyncReport,
  compatible: 'webhookx' | undefined,
): Promise<readonly RowChange[] | null> {
  const { createPosthorn } = await import('posthorn')
  const { kinds } = await pluginKinds(undefined)
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const posthorn = createPosthorn({ plugins: kinds, logger: silent, ...(compatible && { compatible }) })
  try {
    await posthorn.config.sync('default', before)
    const counts = await posthorn.config.sync('default', document)
    const isSame = (['endpoints', 'sources', 'plugins'] as const).every(
      (kind) => JSON.stringify(counts[kind]) === JSON.stringify(report[kind]),
    )
    return isSame ? difference(before, await posthorn.config.dump('default')) : null
  } catch {
    return null
  } finally {
    await posthorn.stop()
  }
}
