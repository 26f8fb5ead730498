import type { Command } from 'commander'
import type { Attempt } from 'posthorn'

import { type Admin, adminOf, type AdminOptions, withAdminOptions } from '../admin.ts'
import { timeText } from '../clock-text.ts'
import { command, group, type Surroundings } from '../command.ts'
import { attempts, follow, untilStopped } from '../follow.ts'
import { cut, tableLines, type Terminal } from '../terminal.ts'

interface TailGiven extends AdminOptions {
  readonly endpoint?: string
  readonly failed?: true
  readonly json?: true
}

export function deliveriesCommand(surroundings: Surroundings): Command {
  return group('deliveries', 'watch deliveries, and try one once more', tail(surroundings), retry(surroundings))
}

function tail({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command('tail', 'show attempts as they end, until Ctrl-C', 'posthorn deliveries tail --failed'),
  )
    .option('--endpoint <id>', 'of one endpoint only')
    .option('--failed', 'failed ones only')
    .action(async ({ endpoint, failed, json, ...options }: TailGiven) => {
      const admin = adminOf(options, env)
      const ready = () => terminal.note(`Waiting for deliveries of the workspace ${admin.workspace} (Ctrl-C ends) ...`)
      for await (const attempt of follow(admin, attempts(admin), {
        signal: untilStopped(),
        note: terminal.note,
        ready,
      })) {
        if (endpoint !== undefined && attempt.endpoint_id !== endpoint) continue
        if (failed && attempt.status !== 'FAILED') continue
        if (json) terminal.json(attempt)
        else terminal.line(lineOf(terminal, attempt))
      }
    })
}

/** What happened stands before the ids, which a narrow terminal may cut. */
function lineOf({ paint, columns }: Terminal, attempt: Attempt): string {
  const { status, response, error_code, error_message, attempt_number } = attempt
  const isGood = status === 'SUCCESSFUL'
  const outcome = response === null ? (error_code ?? status) : `${response.status} in ${response.latency} ms`
  const text = [
    timeText(attempt.attempted_at ?? attempt.updated_at),
    cut(outcome, 20).padEnd(15),
    `try ${attempt_number}`,
    attempt.id,
    ...(isGood ? [] : [error_message ?? '']),
  ].join('  ')
  return paint(isGood ? 'green' : 'red', cut(text.trimEnd(), columns))
}

function retry({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command(
      'retry',
      'deliver the event of an attempt to its endpoint once more',
      'posthorn deliveries retry ATTEMPT_ID',
    ),
  )
    .argument('<attempt>', 'the id of the attempt')
    .action(async (id: string, { json, ...options }: AdminOptions & { json?: true }) => {
      const admin = adminOf(options, env)
      const { event_id, endpoint_id } = await found(admin, id)
      const attempt = await admin.events.retry(admin.workspace, event_id, endpoint_id)
      if (json) return terminal.json(attempt)
      terminal.line('The event goes to the endpoint once more.')
      const rows = [
        ['attempt', attempt.id],
        ['event', event_id],
        ['endpoint', endpoint_id],
      ]
      for (const text of tableLines(rows, terminal.columns)) terminal.line(text)
    })
}

async function found(admin: Admin, id: string): Promise<Attempt> {
  return await admin.attempts.get(admin.workspace, id)
}
