import { once } from 'node:events'
import { randomBytes } from 'node:crypto'

import { type Command, InvalidArgumentError } from 'commander'
import type { Posthorn } from 'posthorn'
import { verifyWebhook } from 'posthorn/verify'

import { timeText } from '../clock-text.ts'
import { command, type Environment, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { untilStopped } from '../follow.ts'
import { now } from '../now.ts'
import { readSettings } from '../read-settings.ts'
import { type Arrival, receiver } from '../receiver.ts'
import { cut, type Terminal } from '../terminal.ts'
import { allOf } from '../given-settings.ts'

interface Given {
  readonly database?: string
  readonly port?: number
  readonly json?: true
}

const id = 'posthorn-dev'
const path = '/events'

export function devCommand({ terminal, env }: Surroundings): Command {
  return command('dev', 'a server to try things out, with a receiver that shows what arrives', 'posthorn dev')
    .option('--database <url>', 'PostgreSQL instead of memory')
    .option('--port <port>', 'port of the gateway; admin and status take the next two; 0 takes free ones', portOf)
    .action(async ({ database, port, json }: Given) => {
      const { settings, problems } = readSettings(devEnvironment(env, database, port))
      if (problems.length > 0) throw new UsageError(allOf(problems))
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const show = (arrival: Arrival) => void shown(terminal, arrival, secret, json === true)
      const { startServer } = await import('../serve.ts')
      const { portalOf } = await import('../admin-face.ts')
      const hooks = await receiver(show)
      const stopped = untilStopped() // a signal that comes while the server starts counts too
      const { note } = terminal
      const logger = { debug() {}, info() {}, warn: note, error: note }
      const server = await startServer(settings, {}, logger).catch((error: unknown) => {
        hooks.close()
        throw error
      })
      const [admin, gateway] = [server.faces['admin']!.url, server.faces['gateway']!.url]
      await connect(server.posthorn, hooks.url, secret)
      const { url: portal } = await portalOf(server.posthorn, settings, {}, admin).session('default')
      if (json)
        terminal.json({ admin, gateway: `${gateway}${path}`, status: server.faces['status']!.url, portal, secret })
      else introduce(terminal, { admin, gateway, portal })
      await server.posthorn.events.create('default', { event_type: 'posthorn.hello', data: { hello: 'webhooks' } })
      if (!stopped.aborted) await once(stopped, 'abort')
      hooks.close()
      await disconnect(server.posthorn)
      await server.stop()
      process.exit(0)
    })
}

/** Nothing of a server of production is taken over but the workspace of the database that is named. */
function devEnvironment({ PATH }: Environment, database: string | undefined, port = 9600): Environment {
  const at = (offset: number) => String(port === 0 ? 0 : port + offset)
  return {
    PATH,
    PORT_GATEWAY: at(0),
    PORT_ADMIN: at(1),
    PORT_STATUS: at(2),
    POSTHORN_ALLOW: '@loopback',
    POSTHORN_PORTAL_SECRET: randomBytes(32).toString('base64'),
    ...(database !== undefined && { DATABASE_URL: database }),
  }
}

function portOf(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_533) throw new InvalidArgumentError('It must be a port.')
  return Number(text)
}

/** An endpoint that gets all events, and a source that takes them. Those of an earlier run are replaced. */
async function connect(posthorn: Posthorn, url: string, secret: string): Promise<void> {
  await disconnect(posthorn)
  await posthorn.endpoints.create('default', { id, request: { url }, events: ['*'] })
  await posthorn.plugins.create('default', {
    endpoint_id: id,
    name: 'standard-webhooks',
    config: { secrets: [secret] },
  })
  await posthorn.sources.create('default', { id, config: { http: { path, methods: ['POST'] } } })
}

async function disconnect(posthorn: Posthorn): Promise<void> {
  await posthorn.endpoints.delete('default', id)
  await posthorn.sources.delete('default', id)
}

function introduce({ line, paint }: Terminal, { admin, gateway, portal }: Readonly<Record<string, string>>): void {
  line(`${paint('bold', 'Posthorn')} listens on this machine only. Ctrl-C ends it.`)
  line(`admin    ${admin}`)
  line(`gateway  ${gateway}${path}`)
  line(`page     ${admin}/dashboard`)
  line(`portal   ${portal}`)
  line('Every event goes to a receiver in this terminal. Send one from another:')
  line()
  line(`  curl ${gateway}${path} \\`)
  line(`    -d '{"event_type":"order.paid","data":{"order":7}}'`)
  line()
}

async function shown(terminal: Terminal, { headers, body }: Arrival, secret: string, json: boolean): Promise<void> {
  const isSigned = await verifyWebhook({ headers, body }, secret, { parse: false }).then(
    () => true,
    () => false,
  )
  const type = String(headers['webhook-event-type'])
  if (json) return terminal.json({ received: type, id: headers['webhook-id'], signed: isSigned, body })
  const { paint, columns, line } = terminal
  const verdict = isSigned ? 'signature holds' : 'signature does not hold'
  line(`${timeText(now())}  ${paint('cyan', cut(type, 40))}  ${paint(isSigned ? 'green' : 'red', verdict)}`)
  line(paint('dim', `          ${cut(body, columns - 10)}`))
}
