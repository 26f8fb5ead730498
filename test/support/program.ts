import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that runs beside a test. */
export interface Program {
  /** Resolves with the first line of its output that matches. @throws Error with all that it said, when it ends before. */
  says(pattern: RegExp): Promise<string>
  /** Resolves with all that it said, when it ends by itself. @throws Error when its exit code is not 0. */
  ended(): Promise<string>
  /** Asks it to stop, and resolves with its exit code. */
  stop(): Promise<number | null>
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>
}

export function program(
  command: string,
  args: readonly string[],
  { env = {}, cwd = '.' }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Program {
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const watchers = new Set<() => void>()
  const tell = () => {
    for (const watch of watchers) watch()
  }
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      tell()
    })
  }
  let over: Error | { readonly code: number | null } | null = null
  child.once('error', (error) => {
    over = error
    tell()
  })
  child.once('close', (code) => {
    process.off('exit', kill)
    over ??= { code }
    tell()
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const text = () => lines.join('\n')
  const broken = (what: string) => new Error(`${command} ${args.join(' ')}: ${what}\n${text()}`)

  function until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        const seen = look()
        if (seen === undefined && over === null) return
        watchers.delete(watch)
        if (seen === undefined) reject(over instanceof Error ? over : broken(`ended with code ${over?.code}`))
        else resolve(seen)
      }
      watchers.add(watch)
      watch()
    })
  }

  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    process.off('exit', kill)
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  return {
    says: (pattern) => until(() => lines.find((line) => pattern.test(line))),
    ended: () => until(() => (over !== null && !(over instanceof Error) && over.code === 0 ? text() : undefined)),
    async stop() {
      await end('SIGTERM')
      return child.exitCode
    },
    kill: () => end('SIGKILL'),
  }
}
