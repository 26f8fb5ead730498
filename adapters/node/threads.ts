import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

import type { Thread, ThreadScript } from '../../src/contracts/platform.ts'
import { PosthornError } from '../../src/errors.ts'

/** What both kinds of thread have in common, as seen from here. */
interface Channel {
  post(message: unknown): void
  /** Called once, when it ended for whatever reason. */
  onEnd(listener: (cause: Error) => void): void
  onMessage(listener: (message: unknown) => void): void
  /** Whether it keeps this process alive. */
  hold(held: boolean): void
  kill(): void
}

/** The first message of a thread: whether its script could be made. */
type Greeting = { readonly ready: true } | { readonly failed: string }

/**
 * A worker thread on Node. Deno and Bun answer `terminate()` of a worker in a loop but leave it running, on a core of its
 * own for ever (seen with Deno 2.9 and Bun 1.4): there it is a process.
 */
export async function startThread(script: ThreadScript): Promise<Thread> {
  for (const name of script.modules) requireInstalled(name, script.modules)
  const channel = 'Bun' in globalThis || 'Deno' in globalThis ? processChannel(script) : workerChannel(script)
  let pending: { resolve(answer: unknown): void; reject(cause: Error): void } | undefined
  let ended: Error | undefined

  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      if (ended !== undefined) reject(ended)
      else pending = { resolve, reject }
    })
  channel.onMessage((message) => {
    const waiting = pending
    pending = undefined
    channel.hold(false)
    waiting?.resolve(message)
  })
  const end = (cause: Error) => {
    ended ??= cause
    pending?.reject(ended)
    pending = undefined
  }
  channel.onEnd(end)

  const greeting = (await next()) as Greeting
  if ('failed' in greeting) {
    channel.kill()
    throw new Error(greeting.failed)
  }
  return {
    call(message) {
      const answer = next()
      if (ended !== undefined) return answer
      channel.hold(true)
      channel.post(message)
      return answer
    },
    kill() {
      end(new Error('the thread was killed'))
      channel.kill()
    },
  }
}

function requireInstalled(name: string, all: readonly string[]): void {
  try {
    createRequire(import.meta.url).resolve(name)
  } catch (cause) {
    throw new PosthornError('internal', `${name} is missing: npm install ${all.join(' ')}`, { cause })
  }
}

function workerChannel(script: ThreadScript): Channel {
  const worker = new Worker(
    `${program(script)}
    const { parentPort } = process.getBuiltinModule('node:worker_threads')
    begin((message) => parentPort.postMessage(message), (listener) => parentPort.on('message', listener))`,
    { eval: true, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 128 } },
  )
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker is no window
    post: (message) => worker.postMessage(message),
    onMessage: (listener) => worker.on('message', listener),
    onEnd(listener) {
      worker.on('error', listener)
      worker.on('exit', () => listener(new Error('the thread has ended')))
    },
    hold: (held) => (held ? worker.ref() : worker.unref()),
    kill: () => void worker.terminate(),
  }
}

function processChannel(script: ThreadScript): Channel {
  const child = spawn(
    process.execPath,
    [
      '-e',
      `${program(script)}
      process.on('disconnect', () => process.exit())
      begin((message) => process.send(message), (listener) => process.on('message', listener))`,
    ],
    // A compiled Bun program is its own executable, and acts as Bun when told so.
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env: { BUN_BE_BUN: '1' } },
  )
  return {
    post: (message) => void child.send(message as object), // JSON, as the contract says
    onMessage: (listener) => child.on('message', listener),
    onEnd(listener) {
      child.on('error', listener)
      child.on('exit', () => listener(new Error('the process has ended')))
    },
    hold(held) {
      const channel: Partial<NonNullable<typeof child.channel>> | null | undefined = child.channel // Bun's has neither
      if (held) {
        child.ref()
        channel?.ref?.()
      } else {
        child.unref()
        channel?.unref?.()
      }
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** JavaScript that defines `begin(send, receive)`. It holds all it needs, so that it runs without a file of ours. */
function program({ text, modules }: ThreadScript): string {
  return `
    const begin = (send, receive) => {
      try {
        const { createRequire } = process.getBuiltinModule('node:module')
        const { createHmac } = process.getBuiltinModule('node:crypto')
        const require = createRequire(${JSON.stringify(import.meta.url)})
        const hmac = (hash, key, data) => createHmac(hash.replace('-', ''), key).update(data).digest()
        const answer = (${text})(${JSON.stringify(modules)}.map((name) => require(name)), hmac)
        receive(async (message) => send(await answer(message)))
        send({ ready: true })
      } catch (error) {
        send({ failed: String(error) })
      }
    }`
}
