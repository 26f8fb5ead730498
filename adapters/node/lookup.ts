import dns from 'node:dns'
import type { LookupFunction } from 'node:net'

import { LRUCache } from 'lru-cache'

import type { DenyRules } from '../../src/core/deny-rules.ts'
import { Failure } from './failure.ts'
import { type Waiter, semaphore } from './semaphore.ts'

export interface Found {
  /** The address, as text. */
  readonly address: string
  /** The family of the address: IPv4 or IPv6. */
  readonly family: 4 | 6
}

/** Finds all addresses of a name, preferred addresses first. A rejection is the sentence to show. */
export type Resolve = (hostname: string) => Promise<readonly Found[]>

const keptMs = 5000
const deadlineMs = 5000
/** How long the addresses of one family wait for those of the other (RFC 8305). */
const familyDelayMs = 50
/** The system's own lookup holds one of the four threads that files and crypto use too; it gets half of them. */
const systemLookups = 2

/**
 * Looks names up with a resolver of our own, which holds no thread, and asks the system (`dns.lookup`: hosts file,
 * search domains) for names that only it can know. No lookup takes longer than 5 s. `servers` are those of the system
 * unless given.
 */
export function resolveNames({ servers }: { readonly servers?: readonly string[] } = {}): Resolve {
  const resolver = new dns.promises.Resolver({ timeout: 1500, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const system = systemResolver()

  async function ask(hostname: string): Promise<readonly Found[]> {
    // These names mean this machine, whatever a server says (RFC 6761).
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) {
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]
    }
    // No public server knows these.
    if (!hostname.includes('.') || hostname.endsWith('.local')) return await system(hostname)
    try {
      return await bothFamilies(resolver, hostname)
    } catch (cause) {
      // A server that answers "no" is no reason to doubt the hosts file. The system's resolver would only ask a silent
      // server again.
      if (codeOf(cause) === 'ETIMEOUT') throw cause
      return await system(hostname)
    }
  }

  return (hostname) => {
    const bare = hostname.replace(/\.$/, '')
    return withDeadline(ask(bare), () => new Failure('ETIMEOUT', `lookup of ${bare} timed out`)).catch(
      (cause: unknown) => {
        throw cause instanceof Failure ? cause : lookupFailure(bare, cause)
      },
    )
  }
}

/** Shares concurrent lookups of a name, and keeps answers and failures for 5 s, of the 1,000 names asked last. */
export function rememberNames(resolve: Resolve): Resolve & { readonly pending: (hostname: string) => boolean } {
  const known = new LRUCache<string, { readonly found: Promise<readonly Found[]>; settled: boolean }>({ max: 1000 })

  function remember(hostname: string): Promise<readonly Found[]> {
    const entry = { found: resolve(hostname), settled: false }
    known.set(hostname, entry)
    const settle = (): void => {
      entry.settled = true
      if (known.peek(hostname) === entry) known.set(hostname, entry, { ttl: keptMs })
    }
    entry.found.then(settle, settle)
    return entry.found
  }

  return Object.assign((hostname: string) => known.get(hostname)?.found ?? remember(hostname), {
    pending: (hostname: string) => known.peek(hostname)?.settled === false,
  })
}

/** The `lookup` of a socket: it dials only those addresses of a name that the judge lets pass. */
export function guardedLookup(resolve: Resolve, judge: DenyRules): LookupFunction {
  return (hostname, options, answer) => {
    permittedAddresses(hostname, resolve, judge).then(
      (found) => {
        if (options.all === true) answer(null, [...found])
        else answer(null, found[0]!.address, found[0]!.family) // at least one address, else it was a failure
      },
      (cause: NodeJS.ErrnoException) => answer(cause, '', 0),
    )
  }
}

/**
 * The addresses of a name that may be dialled: at least one. Rejects with the first denial when every address is
 * denied.
 */
export async function permittedAddresses(
  hostname: string,
  resolve: Resolve,
  judge: DenyRules,
): Promise<readonly Found[]> {
  const verdict = judge.judgeHost(hostname)
  if (verdict.kind === 'denied') throw new Failure('EDENIED', verdict.message)
  const found = await resolve(hostname)
  if (found.length === 0) throw new Failure('ENOTFOUND', `lookup of ${hostname} found no address`)
  if (verdict.kind === 'allowed') return found
  const permitted = found.filter(({ address }) => judge.judgeAddress(address) === null)
  if (permitted.length > 0) return permitted
  throw new Failure('EDENIED', judge.judgeAddress(found[0]!.address)!) // it was denied a moment ago
}

async function bothFamilies(resolver: dns.promises.Resolver, hostname: string): Promise<readonly Found[]> {
  const found: Found[][] = [[], []]
  const families = ([4, 6] as const).map(async (family, i) => {
    const addresses = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname))
    found[i] = addresses.map((address) => ({ address, family }))
    if (addresses.length === 0) throw new Failure('ENOTFOUND', `lookup of ${hostname} found no address`)
  })
  const settled = Promise.allSettled(families)
  try {
    await Promise.any(families)
  } catch {
    const [first] = await settled
    throw (first as PromiseRejectedResult).reason // all of them were rejected
  }
  await new Promise<void>((done) => {
    const timer = setTimeout(done, familyDelayMs)
    void settled.then(() => {
      clearTimeout(timer)
      done()
    })
  })
  return found.flat()
}

function systemResolver(): Resolve {
  const threads = semaphore(systemLookups)
  return async (hostname) => {
    const deadline = performance.now() + deadlineMs
    const waiter = await new Promise<Waiter>((enter) => {
      const own: Waiter = { workspace: null, go: () => enter(own) }
      threads.acquire(own)
    })
    try {
      // Nobody waits for it any more.
      if (performance.now() > deadline) throw new Failure('ETIMEOUT', `lookup of ${hostname} timed out`)
      const found = await dns.promises.lookup(hostname, { all: true, verbatim: false })
      return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
    } finally {
      threads.release(waiter)
    }
  }
}

function withDeadline<T>(work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), deadlineMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function lookupFailure(hostname: string, cause: unknown): Failure {
  const code = codeOf(cause) ?? 'EAI_FAIL'
  switch (code) {
    case 'ENOTFOUND':
    case 'ENODATA':
    case 'EAI_NONAME':
    case 'EAI_NODATA':
      return new Failure(code, `lookup of ${hostname} found no address`)
    case 'ETIMEOUT':
    case 'EAI_AGAIN':
      return new Failure(code, `lookup of ${hostname} timed out`)
    default:
      return new Failure(code, `lookup of ${hostname} failed (${code})`)
  }
}

function codeOf(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : undefined
}
