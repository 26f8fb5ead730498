import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'

import type { Thread, ThreadScript } from '../../src/contracts/platform.ts'
import { PosthornError } from '../../src/errors.ts'
import { childProgram } from './child-program.ts'
import { frameOf, frameReader } from './frames.ts'

type Child = ChildProcessByStdio<Writable, Readable, null>

/** The first message of a process: whether the script could be made. */
type Greeting = { readonly ready: true } | { readonly failed: string }

/** An idle process is let go after this time; the next call then starts another process. */
const idleMs = 60_000

const running = new Set<Child>()
let endsWithUs = false

/**
 * Starts a process. Only a process can be ended for certain: a worker thread that loops in code of the engine survives
 * `terminate()` and holds up the end of the program, and what fills the memory of a worker thread ends the whole program
 * (docs/decisions/code-of-tenants.md).
 */
export async function startThread(script: ThreadScript): Promise<Thread> {
  for (const name of script.modules) requireInstalled(name, script.modules)
  const child = start(script)
  let pending: { resolve(message: unknown): void; reject(cause: Error): void } | undefined
  let ended: Error | undefined
  const idle = setTimeout(() => pending === undefined && kill('the process was idle'), idleMs).unref()

  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      if (ended !== undefined) reject(ended)
      else pending = { resolve, reject }
    })
  const end = (cause: Error) => {
    ended ??= cause
    clearTimeout(idle)
    running.delete(child)
    pending?.reject(ended)
    pending = undefined
  }
  const kill = (cause: string) => {
    end(new Error(cause))
    child.kill('SIGKILL')
  }
  const read = frameReader((message) => {
    const waiting = pending
    pending = undefined
    hold(child, false)
    idle.refresh()
    if (waiting === undefined) kill('the process answered what nobody asked')
    else waiting.resolve(message)
  })
  child.stdout.on('data', (piece: Buffer) => {
    try {
      if (ended === undefined) read(piece)
    } catch (cause) {
      kill((cause as Error).message) // of the reader, or of `deserialize`
    }
  })
  child.stdin.on('error', end)
  child.on('error', end)
  child.on('exit', () => end(new Error('the process has ended')))

  const greeting = (await next()) as Greeting
  if ('failed' in greeting) {
    kill(greeting.failed)
    throw new Error(greeting.failed)
  }
  return {
    get alive() {
      return ended === undefined
    },
    call(message) {
      const answer = next() as ReturnType<Thread['call']> // as `childProgram` sends it
      if (ended !== undefined) return answer
      hold(child, true)
      child.stdin.write(frameOf(message))
      return answer
    },
    kill: () => kill('the process was killed'),
  }
}

function start(script: ThreadScript): Child {
  const isNode = !('Bun' in globalThis || 'Deno' in globalThis)
  if (isNode && isOneExecutable()) {
    throw new PosthornError('internal', 'code of tenants needs Node itself: this program is a single executable')
  }
  // Code of ours is all that the process runs: `eval` is not needed. The other runtimes do not know these flags.
  const flags = isNode
    ? [
        `--max-old-space-size=${Math.ceil(script.heapBytes / 1024 / 1024)}`,
        '--disallow-code-generation-from-strings',
        '--no-warnings',
      ]
    : []
  const child = spawn(process.execPath, [...flags, '-e', childProgram(script, import.meta.url)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // Nothing of our environment. A compiled Bun program and Electron act as a runtime when asked to.
    env: { BUN_BE_BUN: '1', ELECTRON_RUN_AS_NODE: '1' },
    windowsHide: true,
  })
  running.add(child)
  child.unref()
  if (script.yields === true) yieldTo(child)
  if (!endsWithUs) {
    endsWithUs = true
    process.on('exit', () => {
      for (const each of running) each.kill('SIGKILL')
    })
  }
  return child
}

/** Gives a child lower priority, so that the host and its other processes come first. */
function yieldTo({ pid }: Child): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The system has no priorities, or lets nobody set them: all processes stay equal.
  }
}

function isOneExecutable(): boolean {
  const sea = process.getBuiltinModule('node:sea') as typeof import('node:sea') | undefined
  return sea?.isSea() === true
}

/** Whether the process keeps this program alive. */
function hold(child: Child, held: boolean): void {
  const stdout = child.stdout as Partial<Socket> // Bun's streams are no sockets
  if (held) stdout.ref?.()
  else stdout.unref?.()
}

function requireInstalled(name: string, all: readonly string[]): void {
  try {
    createRequire(import.meta.url).resolve(name)
  } catch (cause) {
    throw new PosthornError('internal', `${name} is missing: npm install ${all.join(' ')}`, { cause })
  }
}
