import type { Command } from 'commander'
import type { HealthReport, StatusReport } from 'posthorn'

import { command, type Surroundings } from '../command.ts'
import { Failure } from '../failure.ts'
import { tableLines, type Terminal } from '../terminal.ts'

interface Given {
  readonly url?: string
  readonly live?: true
  readonly json?: true
}

export function statusCommand({ terminal, env }: Surroundings): Command {
  return command('status', 'whether a server works, and what it did', 'posthorn status --url http://10.0.0.7:9602')
    .option('--url <url>', 'the status port of the server (default: http://127.0.0.1:PORT_STATUS, else 9602)')
    .option('--live', 'ask only whether the process turns, and no engine: for health checks of containers')
    .action(async ({ url, live, json }: Given) => {
      const base = (url ?? `http://127.0.0.1:${env['PORT_STATUS'] || 9602}`).replace(/\/+$/, '')
      if (live) {
        const answer = await ask<{ status: string }>(`${base}/live`)
        return json ? terminal.json(answer) : terminal.line(answer.status)
      }
      const [health, report] = [await ask<HealthReport>(`${base}/ready`), await ask<StatusReport>(base)]
      if (json) terminal.json({ health, report })
      else show(terminal, health, report)
      if (health.status !== 'UP') process.exitCode = 1
    })
}

async function ask<Answer>(url: string): Promise<Answer> {
  const answer = await fetch(url).catch(() => {
    throw new Failure(`${url} does not answer: is the server running, and is --url its status port?`)
  })
  try {
    return (await answer.json()) as Answer
  } catch {
    throw new Failure(`${url} is not the status port of Posthorn`)
  }
}

/** Of the names, with two blanks: the longest is that of the requests. */
const width = 'requests in'.length + 2

function show({ line, paint, columns }: Terminal, health: HealthReport, report: StatusReport): void {
  const colour = (status: string) => paint(status === 'UP' ? 'green' : 'red', status)
  line(`${'server'.padEnd(width)}${colour(health.status)}, up for ${report.uptime}, ${report.runtime.go}`)
  for (const [name, { status, error, listening }] of Object.entries(health.components)) {
    const detail =
      error ?? (listening === false ? 'news of other processes do not arrive; jobs are found by polls' : '')
    line(`${name.padEnd(width)}${colour(status)}${detail === '' ? '' : `: ${detail}`}`)
  }
  const { queue, event } = report
  const rows = [
    ['requests in', `${report.inbound_requests}, of them refused ${report.inbound_failed_requests}`],
    ['deliveries', `${report.outbound_requests}, of them failed ${report.outbound_failed_requests}`],
    ['in flight', String(report.outbound_processing_requests)],
    ['queue', `${queue.size} jobs, the oldest due for ${queue.backlog_latency_secs} s`],
    ['inbox', `${event.pending} events`],
    ['memory', report.memory.sys],
    ['database', `${report.database.total_connections} connections, ${report.database.active_connections} busy`],
  ]
  for (const text of tableLines(rows, columns)) line(text)
}
