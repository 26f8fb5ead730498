import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Command } from 'commander'
import type { Event, Posthorn } from 'posthorn'
import { JsonText } from 'posthorn/client'

import { type Admin, adminOf, type AdminOptions, isAway, withAdminOptions } from '../admin.ts'
import { command, type Surroundings } from '../command.ts'
import { events, follow, untilStopped } from '../follow.ts'
import { patternsOf, wants } from '../patterns.ts'

interface Given extends AdminOptions {
  readonly forwardTo: string
  readonly events?: string
  readonly secret?: string
  readonly json?: true
}

export function listenCommand({ terminal, env }: Surroundings): Command {
  return withAdminOptions(
    command(
      'listen',
      'post new events to a local url, as an endpoint would get them; makes nothing on the server',
      'posthorn listen --forward-to http://localhost:3000/webhooks',
    ),
  )
    .requiredOption('--forward-to <url>', 'where to post')
    .option('--events <patterns>', 'event types or patterns, separated by commas (default: *)')
    .option('--secret <whsec>', 'the secret that signs (default: a new one, which is printed)')
    .action(async ({ forwardTo, events: patterns, secret, json, ...options }: Given) => {
      const wanted = patternsOf(patterns)
      const admin = adminOf(options, env)
      const key = secret ?? `whsec_${randomBytes(32).toString('base64')}`
      const signal = untilStopped()
      const { forwarder } = await import('../forwarder.ts')
      const local = await forwarder(terminal, { url: forwardTo, secret: key, json: json === true })
      const ready = () => {
        terminal.note(
          `Forwarding ${wanted.join(', ')} of the workspace ${admin.workspace} to ${forwardTo} (Ctrl-C ends)`,
        )
        terminal.note(`Signed with ${key}`)
      }
      try {
        for await (const event of follow(admin, events(admin), { signal, note: terminal.note, ready })) {
          if (wants(wanted, event.event_type)) await forwarded(local, admin, event, signal)
        }
      } finally {
        await local.stop({ timeoutMs: 1_000 })
      }
    })
}

/** Puts an event of the server into the local instance, with the same id and the very text of the data. */
async function forwarded(local: Posthorn, admin: Admin, { id, event_type }: Event, signal: AbortSignal): Promise<void> {
  const text = await raw(admin, id, signal)
  if (text === null) return
  await local.events.create('default', { id, event_type, data: new JsonText(JSON.stringify({ text })) })
}

/** The data as it came; null when the event is gone, as in a workspace that was deleted meanwhile, and when `signal` ends the wait. */
async function raw(admin: Admin, id: string, signal: AbortSignal): Promise<string | null> {
  while (!signal.aborted) {
    try {
      return await admin.events.raw(admin.workspace, id)
    } catch (error) {
      if ((error as { code?: unknown }).code === 'not_found') return null
      if (!isAway(error)) throw error
      await sleep(1_000, null, { signal }).catch(() => {})
    }
  }
  return null
}
