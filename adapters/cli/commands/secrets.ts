import type { Command } from 'commander'
import type { Posthorn } from 'posthorn'

import { command, group, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { now } from '../now.ts'
import { tableLines, type Terminal, wrapped } from '../terminal.ts'
import { withPosthorn } from '../with-posthorn.ts'

type SecretsStatus = Awaited<ReturnType<Posthorn['secrets']['status']>>
type ResealReport = Awaited<ReturnType<Posthorn['secrets']['reseal']>>

interface Given {
  readonly config?: string
  readonly json?: true
}

/** How often progress is reported. */
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
      const found = await withPosthorn({ env, config, terminal }, (posthorn) => posthorn.secrets.status())
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
      const report = await withPosthorn({ env, config, terminal }, async (posthorn) => {
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
