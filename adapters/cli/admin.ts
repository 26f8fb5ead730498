import type { Command } from 'commander'
import { type AdminClient, createAdminClient } from 'posthorn/client'

import type { Environment } from './command.ts'
import { Failure, UsageError } from './failure.ts'
import { now } from './now.ts'

/** Options of the commands that ask the administrative API. */
export interface AdminOptions {
  readonly url?: string
  readonly token?: string
  readonly workspace?: string
}

/** An administrative API, used for one workspace. */
export interface Admin extends AdminClient {
  readonly workspace: string
  readonly url: string
  /**
   * The time of the server by the server's last answer, unix milliseconds in steps of a second; our own time before the
   * first answer.
   */
  serverTime(): number
}

export function withAdminOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the administrative API (POSTHORN_URL, else http://127.0.0.1:9601)')
    .option('--token <token>', 'its token (POSTHORN_TOKEN, else ADMIN_TOKEN)')
    .option('--workspace <name>', 'name or id of the workspace (POSTHORN_WORKSPACE, else default)')
}

/** @throws UsageError for an url that is none. */
export function adminOf(options: AdminOptions, env: Environment): Admin {
  const url = options.url ?? given(env['POSTHORN_URL']) ?? 'http://127.0.0.1:9601'
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError('--url must begin with http:// or https://')
  const token = options.token ?? given(env['POSTHORN_TOKEN']) ?? given(env['ADMIN_TOKEN'])
  let serverTime: number | null = null
  const client = createAdminClient({
    baseUrl: url,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    async fetch(address, init) {
      const answer = await fetch(address, init).catch((error: unknown) => {
        throw new Failure(`${url} does not answer (${codeOf(error)}): is the server running, and is --url right?`)
      })
      const date = Date.parse(answer.headers.get('date') ?? '')
      if (!Number.isNaN(date)) serverTime = date
      return answer
    },
  })
  const workspace = options.workspace ?? given(env['POSTHORN_WORKSPACE']) ?? 'default'
  return { ...client, workspace, url, serverTime: () => serverTime ?? now() }
}

const given = (value: string | undefined) => (value === '' ? undefined : value)

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined
  return typeof cause?.code === 'string' ? cause.code : 'no connection'
}

/** Whether an error says that nobody answered, so that it is worth another try. */
export function isAway(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'unavailable'
}
