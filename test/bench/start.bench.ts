import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import { machine, median, say, table } from './compare.ts'
import { isReceiver, startReceiver } from './receiver.ts'

// A fresh process: from nothing to the import, and to the first delivery on memory; the bytes of the built package.

const rounds = process.argv.includes('--quick') ? 3 : 11
const entry = fileURLToPath(new URL('../../../dist/node/index.js', import.meta.url))

interface Started {
  readonly importMs: number
  readonly deliveredMs: number
}

async function startOnce(url: string): Promise<void> {
  const before = performance.now()
  const { createPosthorn } = (await import(entry)) as typeof import('../../adapters/node/index.ts')
  const importMs = performance.now() - before
  const posthorn = createPosthorn({ deliver: { allow: ['127.0.0.1'] } })
  const delivered = new Promise<void>((resolve) => posthorn.on('attempt', () => resolve()))
  await posthorn.endpoints.create('default', { request: { url }, events: ['*'] })
  await posthorn.start()
  await posthorn.events.create('default', { event_type: 'bench.event', data: {} })
  await delivered
  process.send!({ importMs, deliveredMs: performance.now() - before } satisfies Started, () => process.exit())
}

async function bytesOf(conditions: readonly string[], path: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    logLevel: 'error',
    format: 'esm',
    platform: 'node',
    conditions: [...conditions],
  })
  return outputFiles[0]!.contents.length
}

async function main(): Promise<void> {
  if (!existsSync(entry)) throw new Error('There is no dist: npm run build')
  const receiver = await startReceiver()
  const runs: Started[] = []
  for (let round = 0; round < rounds; round++) {
    const child = fork(process.argv[1]!, ['start', receiver.url])
    runs.push(await new Promise<Started>((ready) => child.once('message', (message) => ready(message as Started))))
  }
  receiver.stop()
  say(`start: a fresh process on memory, median of ${rounds} runs`)
  say(machine())
  table(
    ['', 'ms'],
    [
      ['import', median(runs.map(({ importMs }) => importMs)).toFixed(0)],
      ['import to first delivery', median(runs.map(({ deliveredMs }) => deliveredMs)).toFixed(0)],
    ],
  )
  const portable = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
  const kib = (bytes: number): string => `${(bytes / 1024).toFixed(0)} KiB`
  say(
    `bundled and minified with all it needs: ${kib(await bytesOf(['node'], entry))} for Node, ${kib(await bytesOf([], portable))} portable`,
  )
}

if (process.argv[2] === 'start') await startOnce(process.argv[3]!)
else if (!isReceiver()) {
  await main()
  process.exit()
}
