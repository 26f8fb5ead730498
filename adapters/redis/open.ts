import { PosthornError } from '../../src/errors.ts'
import type { CallingClient, CallingSubscriber } from './redis-client.ts'

/** How long a connection may take, and the longest wait before the next try, milliseconds. */
const connectTimeout = 5_000
const maxWaitMs = 1_000

/** A client that opens a connection at the first use, and again after `close`. */
export interface OpenedClient {
  readonly client: CallingClient
  close(): void
}

/**
 * @throws PosthornError `validation` for a url that is not a Redis url; `internal` that names what to install where
 * neither `@redis/client`, `redis` nor `ioredis` is installed.
 */
export async function clientFor(url: string): Promise<OpenedClient> {
  // The url is not repeated: it may hold a password.
  if (!URL.canParse(url) || !['redis:', 'rediss:'].includes(new URL(url).protocol)) {
    throw new PosthornError('validation', 'openRedis: url must begin with redis:// or rediss://')
  }
  const make = await maker(url)
  let opened: CallingSubscriber | null = null
  return {
    client: { call: (command, ...args) => (opened ??= make()).call(command, ...args), duplicate: make },
    close() {
      opened?.disconnect()
      opened = null
    },
  }
}

type NodeRedis = typeof import('@redis/client')
type IoRedis = typeof import('ioredis')

/** Makes connections with whichever client is installed. */
async function maker(url: string): Promise<() => CallingSubscriber> {
  const redis = (await installed<NodeRedis>('@redis/client')) ?? (await installed<NodeRedis>('redis'))
  if (redis !== null) return () => nodeRedis(redis, url)
  const ioredis = await installed<IoRedis>('ioredis')
  if (ioredis !== null) return () => ioRedis(ioredis, url)
  throw new PosthornError('internal', 'openRedis needs a client of Redis: npm install @redis/client')
}

/**
 * Null where the package is not installed. Bundlers must not look for the clients: a build works whichever client is
 * installed, or none.
 */
async function installed<Module>(name: string): Promise<Module | null> {
  try {
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as Module
  } catch {
    return null
  }
}

const wait = (tries: number): number => Math.min(50 * 2 ** tries, maxWaitMs)

function nodeRedis({ createClient }: NodeRedis, url: string): CallingSubscriber {
  const line = createClient({ url, socket: { connectTimeout, reconnectStrategy: wait } })
  let tell = (_channel: string, _message: string): void => {}
  line.on('error', () => {}) // whoever waits for an answer gets the error; the client connects again
  line.connect().catch(() => {})
  return {
    call: (command, ...args) => line.sendCommand([command, ...args]),
    on(event: 'message' | 'ready' | 'error', listener: (channel: string, message: string) => void) {
      if (event === 'message') tell = listener
      else line.on(event, listener)
    },
    subscribe: (channel) => line.subscribe(channel, (message) => tell(channel, message)),
    disconnect: () => line.destroy(),
  }
}

function ioRedis({ Redis }: IoRedis, url: string): CallingSubscriber {
  const line = new Redis(url, {
    connectTimeout,
    retryStrategy: wait,
    // Commands that may run twice are sent again by the adapter, and no others.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
  })
  line.on('error', () => {})
  return line
}
