import { readFileSync } from 'node:fs'

import type { Command } from 'commander'
import { JsonText } from 'posthorn/client'

import { adminOf, type AdminOptions, withAdminOptions } from '../admin.ts'
import { timeText } from '../clock-text.ts'
import { command, group, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { events, follow, untilStopped } from '../follow.ts'
import { patternsOf, wants } from '../patterns.ts'
import { cut } from '../terminal.ts'

interface SendGiven extends AdminOptions {
  readonly uniqueId?: string
  readonly json?: true
}
interface TailGiven extends AdminOptions {
  readonly events?: string
  readonly json?: true
}

export function eventsCommand(surroundings: Surroundings): Command {
  return group('events', 'publish events, and watch them come', send(surroundings), tail(surroundings))
}

function send({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command(
      'send',
      'publish one event',
      `posthorn events send order.paid '{"order":7}'`,
      'posthorn events send order.paid - < data.json',
    ),
  )
    .argument('<type>', 'the event type')
    .argument('[data]', 'the data, a JSON object; - reads standard input (default: {})')
    .option('--unique-id <id>', 'an event with a unique id that was seen before is not stored again')
    .action(async (event_type: string, data: string | undefined, { uniqueId, json, ...options }: SendGiven) => {
      const admin = adminOf(options, env)
      const input = { event_type, data: dataOf(data ?? '{}'), ...(uniqueId !== undefined && { unique_id: uniqueId }) }
      const event = await admin.events.create(admin.workspace, input)
      if (json) return terminal.json(event)
      const reasons = await admin.events.explain(admin.workspace, event.id)
      terminal.line(cut(`${event.id}  ${event.event_type}`, terminal.columns))
      terminal.line(`wanted by ${reasons.filter(({ matched }) => matched).length} of ${reasons.length} endpoints`)
    })
}

/** The very text: big numbers and the order of keys stay. */
function dataOf(given: string): JsonText {
  const text = given === '-' ? readFileSync(0, 'utf8') : given
  try {
    JSON.parse(text)
  } catch {
    throw new UsageError(`the data is not JSON: ${cut(text, 60)}`)
  }
  return new JsonText(text)
}

function tail({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command('tail', 'show events as they come, until Ctrl-C', `posthorn events tail --events 'order.*'`),
  )
    .option('--events <patterns>', 'event types or patterns, separated by commas (default: *)')
    .action(async ({ events: patterns, json, ...options }: TailGiven) => {
      const wanted = patternsOf(patterns)
      const admin = adminOf(options, env)
      const ready = () => terminal.note(`Waiting for events of the workspace ${admin.workspace} (Ctrl-C ends) ...`)
      for await (const event of follow(admin, events(admin), { signal: untilStopped(), note: terminal.note, ready })) {
        if (!wants(wanted, event.event_type)) continue
        if (json) {
          terminal.json(event)
          continue
        }
        const head = `${timeText(event.created_at)}  ${cut(event.event_type, 40)}  ${event.id}  `
        terminal.line(cut(head + JSON.stringify(event.data), terminal.columns))
      }
    })
}
