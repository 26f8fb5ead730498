import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const here = fileURLToPath(new URL('.', import.meta.url))
/** Where generators write what they make. */
export const made = `${here}made`

/** What a program wrote to its standard output. @throws Error with all it wrote when the program fails. */
export async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(program, args, { cwd: here, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const written = { stdout: '', stderr: '' }
  child.stdout.on('data', (part: Buffer) => (written.stdout += part.toString()))
  child.stderr.on('data', (part: Buffer) => (written.stderr += part.toString()))
  const status = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  if (status === 0) return written.stdout
  throw new Error(`${program} ${args.join(' ')}: status ${status}\n${written.stdout}${written.stderr}`.slice(0, 20_000))
}

/** A program of an npm package of this folder. */
export function tool(name: string, args: readonly string[]): Promise<string> {
  return run(process.execPath, [`${here}node_modules/.bin/${name}`, ...args])
}
