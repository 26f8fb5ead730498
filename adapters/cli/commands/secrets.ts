import type { Command } from 'commander'
import type { Posthorn } from 'posthorn'

import { command, group, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { lineLogger } from '../logger.ts'
import { now } from '../now.ts'
import { tableLines, type Terminal, wrapped } from '../terminal.ts'
import { allOf, explained, settingsOf } from './serve.ts'

type SecretsStatus = Awaited<ReturnType<Posthorn['secrets']['status']>>
type ResealReport = Awaited<ReturnType<Posthorn['secrets']['reseal']>>

interface Given {
  readonly config?: string
  readonly json?: true
}

/** How often progress is told. */
const progressMs = 1_000

/** Both work with the engine itself, as a server with the same settings would. */
export function secretsCommand({ terminal, env }: Surroundings): Command {
  const status = command(
    'status',
    'count secrets by the key that sealed them; exits with 1 when a key is missing',
    'DATABASE_URL=postgres://localhost/app posthorn secrets status',
  )
    .option('--config <file>', 'configuration file (default: posthorn.config.{js,ts,yaml})')
    .action(async ({ config, json }: Given) => {
      const found = await withPosthorn(env, config, terminal, (posthorn) => posthorn.secrets.status())
      if (json) terminal.json(found)
      else showStatus(terminal, found)
      if (found.keys.some(({ known }) => !known)) process.exitCode = 1
    })

  const reseal = command(
    'reseal',
    'seal every secret with the first key, while servers go on; once more goes on',
    'POSTHORN_SECRETS_KEYS=2026-12:$NEW,2026-11:$OLD posthorn secrets reseal',
  )
    .option('--config <file>', 'configuration file (default: posthorn.config.{js,ts,yaml})')
    .action(async ({ config, json }: Given) => {
      const stopping = new AbortController()
      const stop = () => stopping.abort()
      process.once('SIGINT', stop).once('SIGTERM', stop)
      const report = await withPosthorn(env, config, terminal, async (posthorn) => {
        if ((await posthorn.secrets.status()).seals_with === null)
          throw new UsageError('set POSTHORN_SECRETS_KEYS: with which key shall secrets be sealed?')
        let saidAt = now()
        const onProgress = ({ resealed, workspaces }: ResealReport): void => {
          if (now() - saidAt < progressMs) return
          saidAt = now()
          terminal.note(`${resealed} values sealed in ${workspaces} workspaces so far ...`)
        }
        return await posthorn.secrets.reseal({ signal: stopping.signal, onProgress })
      })
      const isStopped = stopping.signal.aborted
      if (json) terminal.json({ ...report, stopped: isStopped })
      else showReport(terminal, report, isStopped)
      if (report.problems.length > 0 || isStopped) process.exitCode = 1
    })
  return group('secrets', 'seal stored secrets with another key, and count them', status, reseal)
}

async function withPosthorn<Answer>(
  env: Surroundings['env'],
  config: string | undefined,
  terminal: Terminal,
  work: (posthorn: Posthorn) => Promise<Answer>,
): Promise<Answer> {
  const { settings, code, problems } = await settingsOf(env, config)
  // What is wrong for a server is no matter here; a wrong engine or key is.
  const ours = problems.filter((each) => /database|redis|secrets|plugins/i.test(each))
  if (ours.length > 0) throw new UsageError(allOf(ours))
  const { openEngine } = await import('../engine.ts')
  const { makePosthorn } = await import('../serve.ts')
  const engine = await openEngine(settings, code)
  if (engine.names.length === 0)
    throw new UsageError('set DATABASE_URL or REDIS_URL: what a server has in memory is in that server alone')
  try {
    const logger = lineLogger({ log: 'text', logLevel: 'error' }, terminal.note)
    const posthorn = await makePosthorn(settings, code, engine, logger)
    try {
      await engine.options.storage?.verify?.()
      return await work(posthorn)
    } finally {
      await posthorn.stop() // lets go of the engine
    }
  } catch (error) {
    throw explained(error)
  }
}

function showStatus({ line, columns, paint }: Terminal, { seals_with, keys, clear }: SecretsStatus): void {
  line(seals_with === null ? 'No key seals: POSTHORN_SECRETS_KEYS is not set.' : `Seals with the key ${seals_with}.`)
  const rows = keys.map(({ id, values, known }) => [id, String(values), known ? '' : 'the key is missing here'])
  const text = tableLines([['key', 'values', ''], ...rows, ['in clear', String(clear), '']], columns)
  for (const each of text) line(each.endsWith('missing here') ? paint('red', each) : each)
}

function showReport(
  { line, columns }: Terminal,
  { workspaces, resealed, left, problems }: ResealReport,
  isStopped: boolean,
): void {
  line(`Sealed anew: ${resealed} values. Workspaces: ${workspaces}.${left === 0 ? '' : ` Not opened: ${left} values.`}`)
  for (const problem of problems) line(wrapped(problem, columns, '  '))
  if (isStopped) line('Stopped. Call it once more: it goes on with what is left.')
}
