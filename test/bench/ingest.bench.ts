import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { Agent, request } from 'undici'

import { type Contender, compare, isRun, machine, quick, say, sideBySide, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { startServers } from './servers.ts'

// Requests of 1 KiB to the gateway, 256 at a time, until each is answered: by a call of the handler, and over HTTP from
// the same process through a listener, so that the client's work is counted too. A worker stores what async sources took.

const rounds = quick ? 1 : 5
const requests = quick ? 2000 : 5000
const concurrency = 256
const body = JSON.stringify({ event_type: 'bench.event', data: { note: 'n'.repeat(1000) } })

function gatewayOf(engine: Engine, isAsync: boolean, listening: boolean): Contender {
  return async (setting) => {
    const { posthorn, close } = await openPosthorn(engine, setting)
    const path = `/${setting.schema}`
    await posthorn.sources.create('default', { async: isAsync, config: { http: { path } } })
    const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
    const listener = getRequestListener(posthorn.gateway.fetch, { overrideGlobalObjects: false })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` // it listens on a port
    const dispatcher = new Agent({ connections: concurrency, pipelining: 1 })

    const call = async (): Promise<number> =>
      (await posthorn.gateway.fetch(new Request(url, { method: 'POST', body }))).status
    const post = async (): Promise<number> => {
      const answer = await request(url, { dispatcher, method: 'POST', body })
      await answer.body.dump()
      return answer.statusCode
    }
    const send = listening ? post : call
    await send()
    return {
      work: () =>
        sideBySide(requests, concurrency, async () => {
          const status = await send()
          if (status !== 200) throw new Error(`the gateway answered ${status}`)
        }),
      async close() {
        await dispatcher.close()
        server.close()
        await posthorn.stop()
        await close()
      },
    }
  }
}

const contenders: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) =>
    (['sync', 'async'] as const).flatMap((kind) =>
      (['handler', 'listener'] as const).map((way): [string, Contender] => [
        `${engine}, ${kind}, ${way}`,
        gatewayOf(engine, kind === 'async', way === 'listener'),
      ]),
    ),
  ),
)

async function main(): Promise<void> {
  const servers = await startServers()
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const names = Object.keys(contenders).filter(
    (name) => named.length === 0 || named.some((part) => name.includes(part)),
  )
  const summaries = await compare(names, {
    rounds,
    items: requests,
    setting: async () => ({ ...freshPlace(servers), url: '', events: requests, data: '' }),
  })
  await servers.stop()
  say(
    `ingest: ${requests} requests of 1 KiB to the gateway, ${concurrency} at a time, median of ${rounds} interleaved runs`,
  )
  say(machine())
  table(
    ['', 'requests/s', 'CPU µs/request', 'servers µs/request', 'peak MiB'],
    summaries.map(({ name, perSecond, cpuMicros, serverMicros, peakMiB }) => [
      name,
      perSecond.toFixed(0),
      cpuMicros.toFixed(0),
      serverMicros.toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
}

if (!(await isRun(contenders))) {
  await main()
  process.exit()
}
