import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { freePort } from '../support/postgres.ts'

/** A process of the built server, on ports of its own. */
export interface ServerProcess {
  readonly admin: string
  readonly gateway: string
  readonly status: string
  /** As a crash would: nothing is finished, nothing is told. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** How often a server is started: somebody else may take a port that was free a moment before. */
const maxStarts = 3

/** @param spawned called with the address of the administrative API as soon as there is a process. */
export async function startServer(
  env: Readonly<Record<string, string>>,
  spawned: (admin: string) => void = () => {},
  starts = 1,
): Promise<ServerProcess> {
  const [admin, gateway, status] = [await freePort(), await freePort(), await freePort()]
  const ports = { PORT_ADMIN: String(admin), PORT_GATEWAY: String(gateway), PORT_STATUS: String(status) }
  const child: ChildProcess = spawn(process.execPath, ['dist/cli/index.js', 'serve', '--log', 'text'], {
    env: { ...process.env, DENY: '', ...env, ...ports },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const die = (): void => void child.kill('SIGKILL')
  process.once('exit', die)
  const exit = once(child, 'exit')
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.off('exit', die)
    child.kill(signal)
    await exit
  }
  spawned(`http://127.0.0.1:${admin}`)
  if (!(await listens(child, String(status)))) {
    if (starts === maxStarts) throw new Error('the server ended before it listened; was it built?')
    return await startServer(env, spawned, starts + 1)
  }
  return {
    admin: `http://127.0.0.1:${admin}`,
    gateway: `http://127.0.0.1:${gateway}`,
    status: `http://127.0.0.1:${status}`,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

/** Whether the server says that it listens on this port, the last of its three, before it ends. */
async function listens(child: ChildProcess, port: string): Promise<boolean> {
  for await (const line of createInterface(child.stdout!)) {
    if (!line.endsWith(port)) continue
    child.stdout!.resume()
    return true
  }
  return false
}
