import { readFileSync } from 'node:fs'

import { type Command, InvalidArgumentError } from 'commander'

import { command, type Surroundings } from '../command.ts'
import { UsageError } from '../failure.ts'
import { now } from '../now.ts'
import { recordedRequest } from '../recorded-request.ts'
import { fitted } from '../terminal.ts'

interface Given {
  readonly secret: readonly string[]
  readonly tolerance: number
  readonly json?: true
}

export function verifyCommand({ terminal }: Surroundings): Command {
  return command(
    'verify',
    'whether the signature of a recorded request holds, and if not, why',
    'posthorn verify --secret whsec_... < request.txt',
  )
    .requiredOption(
      '--secret <secret...>',
      'whsec_..., whpk_..., or the secret of webhookx-signature; several while a key is exchanged',
    )
    .option('--tolerance <seconds>', 'how old the signature may be; 0 takes any age', secondsOf, 300)
    .addHelpText('after', '\nStandard input holds header lines, an empty line, and the body byte for byte.')
    .action(async ({ secret, tolerance, json }: Given) => {
      if (process.stdin.isTTY)
        throw new UsageError('standard input must hold the request: posthorn verify --secret ... < request.txt')
      const request = recordedRequest(readFileSync(0))
      const { checkSignature } = await import('../signature-check.ts')
      const check = await checkSignature(request, { secrets: secret, toleranceSeconds: tolerance, now: now() })
      if (check.reason === 'secret') throw new UsageError(`--secret: ${check.message}`)
      if (json) terminal.json(check)
      else terminal.line(terminal.paint(check.holds ? 'green' : 'red', fitted(check.message, terminal.columns)))
      if (!check.holds) process.exitCode = 1
    })
}

function secondsOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds.')
  return Number(text)
}
