import { bareError, PosthornError } from '../../src/errors.ts'

/** Answers of a server that can be reached but cannot serve. Inside a script old servers put them behind a dash. */
const refusals: Readonly<Record<string, string>> = {
  OOM: 'Redis has no memory left (maxmemory is reached)',
  READONLY: 'Redis is a read-only replica',
  LOADING: 'Redis is still loading its data',
  BUSY: 'Redis is busy with a long script',
  MISCONF: 'Redis cannot persist and refuses writes',
  NOREPLICAS: 'Redis has too few replicas to accept writes',
  MASTERDOWN: 'Redis is a replica that has lost its master',
  CLUSTERDOWN: 'The Redis cluster is down',
  TRYAGAIN: 'The Redis cluster is moving this slot',
  NOAUTH: 'Redis asks for a password',
  WRONGPASS: 'Redis refuses the password',
  NOPERM: 'The Redis user lacks a permission',
}

/** What the host gets for an error of the client: `unavailable` where Redis is away or cannot serve, else the error itself. */
export function translated(error: unknown): unknown {
  if (error instanceof PosthornError) return error
  const unable = inability(messageOf(error))
  if (unable !== null) return new PosthornError('unavailable', unable, { cause: error })
  if (wasLost(error)) return new PosthornError('unavailable', 'The connection to Redis is lost', { cause: error })
  return bareError(error)
}

/** Why the server cannot serve, where an answer of it says so. */
export function inability(message: string): string | null {
  if (message.startsWith('ERR max number of clients')) return 'Redis takes no more clients (maxclients is reached)'
  const codes = [...message.matchAll(/(?:^|[ :]-)([A-Z]+) /g)].map(([, code]) => code!) // the group always matches
  return codes.map((code) => refusals[code]).find((known) => known !== undefined) ?? null
}

/** Errors of the client's connection. Answers of the server start with a code in capitals; a TypeError is a mistake of ours. */
export function wasLost(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof PosthornError || error instanceof TypeError) return false
  return !/^[A-Z]{2,} /.test(error.message)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
