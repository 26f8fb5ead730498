import { type Command, InvalidArgumentError } from 'commander'
import type { ReplayInput } from 'posthorn'

import { adminOf, type AdminOptions, withAdminOptions } from '../admin.ts'
import { spanMs } from '../clock-text.ts'
import { command, type Surroundings } from '../command.ts'
import { now } from '../now.ts'
import { patternsOf } from '../patterns.ts'

interface Given extends AdminOptions {
  readonly since?: number
  readonly until?: number
  readonly types?: string
  readonly endpoint?: string
  readonly status?: 'FAILED' | 'CANCELED'
  readonly missing?: true
  readonly dryRun?: boolean
  readonly json?: true
}

export function replayCommand({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command(
      'replay',
      'deliver once more what failed or was canceled',
      'posthorn replay --since 2h --endpoint ENDPOINT_ID --dry-run',
    ),
  )
    .option('--since <time>', 'events since then: 30m, 2h, 7d, or 2026-11-22T10:00:00Z', momentOf)
    .option('--until <time>', 'events until then', momentOf)
    .option('--types <types>', 'event types, separated by commas')
    .option('--endpoint <id>', 'of one endpoint only')
    .option('--status <status>', 'FAILED or CANCELED (default: both)', statusOf)
    .option('--missing', 'what the endpoint never got, such as while it was off')
    .option('--dry-run', 'count only')
    .action(async ({ since, until, types, endpoint, status, missing, dryRun = false, json, ...options }: Given) => {
      const admin = adminOf(options, env)
      const input: ReplayInput = {
        ...((since ?? until) !== undefined && {
          created_at: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lte: until }) },
        }),
        ...(types !== undefined && { event_types: patternsOf(types) }),
        ...(endpoint !== undefined && { endpoint_id: endpoint }),
        ...(status !== undefined && { status }),
        ...(missing && { missing }),
      }
      const total = { matched: 0, created: 0 }
      let after: string | null = null
      do {
        const report = await admin.events.replay(admin.workspace, { ...input, ...(after && { after }) }, { dryRun })
        total.matched += report.matched
        total.created += report.created
        after = report.next
        if (after !== null) terminal.note(`${total.matched} deliveries so far ...`)
      } while (after !== null)
      if (json) terminal.json({ dry_run: dryRun, ...total })
      else if (dryRun) terminal.line(`Deliveries that would be made once more: ${total.matched}.`)
      else terminal.line(`Deliveries made once more: ${total.created}.`)
    })
}

function momentOf(text: string): number {
  const span = spanMs(text)
  if (span !== null) return now() - span
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be such as 30m, 2h, 7d, or 2026-11-22T10:00:00Z.')
  return at
}

function statusOf(text: string): string {
  if (text !== 'FAILED' && text !== 'CANCELED') throw new InvalidArgumentError('It must be FAILED or CANCELED.')
  return text
}
