import { createPosthorn, type Logger, type Options, type Posthorn } from 'posthorn'

import { adminFace } from './admin-face.ts'
import { type Engine, openEngine } from './engine.ts'
import { type Face, listen } from './faces.ts'
import { pluginKinds } from './plugin-kinds.ts'
import { type CodeOptions, isLoopback } from './read-settings.ts'
import type { Settings } from './settings.ts'
import { requireToken } from './token.ts'

/** A server that runs, until it is asked to stop. */
export interface Server {
  readonly engine: Engine
  readonly posthorn: Posthorn
  readonly faces: Readonly<Record<string, Face>>
  /** Ends within ten seconds: answers what is under way, lets deliveries end, gives back what is not sent. */
  stop(): Promise<void>
}

/** Answers and deliveries under way have so long to end. */
const drainMs = 8_000

export async function startServer(settings: Settings, code: CodeOptions, logger: Logger): Promise<Server> {
  const engine = await openEngine(settings, code)
  if (settings.migrate) await engine.database?.migrate()
  const posthorn = await makePosthorn(settings, code, engine, logger)
  const faces: Record<string, Face> = {}
  const stop = async (): Promise<void> => {
    await within(
      drainMs,
      Object.values(faces).map((face) => face.close()),
    )
    await posthorn.stop({ timeoutMs: 1_000 })
  }
  try {
    await engine.options.storage?.verify?.()
    // Worker and faces start at the same time: a process that replaces a killed process answers before its worker has
    // begun.
    const starting = settings.role === 'api' ? null : posthorn.start()
    const outcomes = await Promise.allSettled([starting, openFaces(posthorn, settings, code, faces)])
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  } catch (error) {
    await stop()
    throw error
  }
  return { engine, posthorn, faces, stop: () => drained(posthorn, Object.values(faces)) }
}

async function openFaces(
  posthorn: Posthorn,
  settings: Settings,
  code: CodeOptions,
  faces: Record<string, Face>,
): Promise<void> {
  const { role, host, portAdmin, portGateway, portStatus } = settings
  if (role !== 'worker') {
    faces['admin'] = await listen(adminFace(posthorn, settings, code), { host, port: portAdmin, name: 'admin' })
    faces['gateway'] = await listen(posthorn.gateway, { host, port: portGateway, name: 'gateway' })
  }
  faces['status'] = await listen(posthorn.statusHandler, { host, port: portStatus, name: 'status' })
}

/** An instance as the settings say, which works for nobody before it is started. */
export async function makePosthorn(
  settings: Settings,
  code: CodeOptions,
  engine: Engine,
  logger: Logger,
): Promise<Posthorn> {
  const { kinds, missing } = await pluginKinds(settings.plugins)
  for (const name of missing) logger.info(`the plugin ${name} is left out: its packages are not installed`)
  return createPosthorn({
    ...optionsOf(settings, code),
    ...engine.options,
    plugins: [...kinds, ...(code.pluginKinds ?? [])],
    logger,
  })
}

/** Requests and deliveries end side by side. A request that ends after `stop` may have opened connections once more. */
async function drained(posthorn: Posthorn, faces: readonly Face[]): Promise<void> {
  await Promise.all([
    within(
      drainMs,
      faces.map((face) => face.close()),
    ),
    posthorn.stop({ timeoutMs: drainMs }),
  ])
  await posthorn.stop({ timeoutMs: 500 })
}

async function within(ms: number, work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.race([Promise.all(work), new Promise((resolve) => setTimeout(resolve, ms).unref())])
}

function optionsOf(settings: Settings, code: CodeOptions): Options {
  const { adminToken, publicUrl, compatible, eventsDays, attemptsDays, secretsKeys } = settings
  const secrets = secretsKeys === undefined ? code.secrets : { keys: secretsKeys }
  const authorize = code.authorize ?? (adminToken === undefined ? undefined : requireToken(adminToken))
  // A website can point its name at our address (DNS rebinding); requests under such a name are refused.
  const allowedHosts =
    settings.allowedHosts ?? (isLoopback(settings.host) ? ['127.0.0.1', 'localhost', '[::1]'] : undefined)
  const { deny, allow, httpsOnly, sign, concurrency, perEndpoint, timeoutMs, captureBytes } = settings
  return {
    admin: {
      maxBodyBytes: settings.maxAdminBodyBytes,
      allowedOrigins: settings.allowedOrigins,
      ...(authorize && { authorize }),
      ...(allowedHosts && { allowedHosts }),
      ...(publicUrl && { publicUrl }),
    },
    gateway: { maxBodyBytes: settings.maxBodyBytes },
    deliver: { deny, allow, httpsOnly, sign, concurrency, perEndpoint, timeoutMs, captureBytes },
    retention: { ...(eventsDays && { eventsDays }), ...(attemptsDays && { attemptsDays }) },
    ...(settings.breaker && { breaker: {} }),
    ...(compatible && { compatible }),
    ...(secrets && { secrets }),
    ...(code.events && { events: code.events }),
    ...(code.strictEvents && { strictEvents: code.strictEvents }),
  }
}
