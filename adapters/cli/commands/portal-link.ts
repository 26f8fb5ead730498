import { type Command, InvalidArgumentError } from 'commander'

import { spanMs } from '../clock-text.ts'
import { command, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { isLoopback } from '../read-settings.ts'
import type { Settings } from '../settings.ts'
import { withPosthorn } from '../with-posthorn.ts'

interface Given {
  readonly config?: string
  readonly url?: string
  readonly ttl?: number
  readonly readOnly?: true
  readonly revoke?: true
  readonly json?: true
}

/** The link is signed here: it needs the secret and the engine of the server, and no way into the server. */
export function portalLinkCommand({ terminal, env }: Surroundings): Command {
  return command(
    'portal-link',
    'make a link that opens the portal for the customer of a workspace',
    'posthorn portal-link acme --ttl 1h --url https://hooks.example',
    'posthorn portal-link acme --revoke',
  )
    .argument('<workspace>', 'its name or id')
    .option('--config <file>', 'configuration file (default: posthorn.config.{js,ts,yaml})')
    .option('--url <url>', 'where browsers reach the server (default: POSTHORN_PUBLIC_URL)')
    .option('--ttl <time>', 'how long the link opens: 30m, 1h, 7d (default: 1h)', secondsOf)
    .option('--read-only', 'the customer may look, and change nothing')
    .option('--revoke', 'make no link, and end all that were made for the workspace')
    .action(async (workspace: string, { config, url, ttl, readOnly, revoke, json }: Given) => {
      if (url !== undefined && !/^https?:\/\/./.test(url)) throw new UsageError('--url must be an http or https url')
      const needs = /portal|public_?url/i
      await withPosthorn({ env, config, terminal, needs }, async (posthorn, settings, code) => {
        if (settings.portalSecret === undefined) {
          throw new UsageError('set POSTHORN_PORTAL_SECRET to that of the server: without it there is no portal')
        }
        const { portalOf } = await import('../admin-face.ts')
        const customers = portalOf(posthorn, settings, code, revoke ? '' : originOf(settings, url))
        if (revoke) {
          await customers.revoke(workspace)
          return json ? terminal.json({ revoked: true }) : terminal.line(`No link to ${workspace} opens any more.`)
        }
        const link = await customers.session(workspace, {
          ...(ttl !== undefined && { ttlSeconds: ttl }),
          readOnly: readOnly === true,
        })
        if (json) return terminal.json(link)
        terminal.line(link.url)
        terminal.note(`It opens until ${new Date(link.expires_at).toISOString()}.`)
      })
    })
}

function originOf({ publicUrl, host, portAdmin }: Settings, url: string | undefined): string {
  const given = url ?? publicUrl
  if (given !== undefined) {
    if (!URL.canParse(given)) throw new UsageError('--url must be an http or https url')
    return new URL(given).origin
  }
  if (isLoopback(host) && portAdmin !== 0) return `http://${host.includes(':') ? `[${host}]` : host}:${portAdmin}`
  throw new UsageError('where do browsers reach the portal? Give --url, or set POSTHORN_PUBLIC_URL')
}

const maxSeconds = 30 * 86_400

function secondsOf(text: string): number {
  const seconds = (spanMs(text) ?? 0) / 1000
  if (seconds >= 60 && seconds <= maxSeconds) return seconds
  throw new InvalidArgumentError('It must be from 1m to 30d, such as 30m, 1h, 7d.')
}
