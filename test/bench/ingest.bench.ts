import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { getRequestListener } from '@hono/node-server'
import { Agent, request } from 'undici'

import { type Contender, compare, isRun, machine, quick, say, sideBySide, type Summary, table } from './compare.ts'
import { type Engine, engines, freshPlace, openPosthorn } from './engines.ts'
import { startServers } from './servers.ts'

// Requests of 1 KiB to the gateway, 256 at a time, until each is answered: by a call of the handler, and over HTTP from
// the same process through a listener, so that the client's work is counted too. A worker stores what async sources took.
// And 20,000 calls of events.create, 2,000 at a time, where nobody delivers.

const rounds = quick ? 1 : 5
const requests = quick ? 2000 : 10_000
const burst = quick ? 4000 : 20_000
const burstWidth = 2000
/** Before the clock starts, so that few calls tell what many would. */
const warmUp = quick ? 500 : 5000
const concurrency = 256
const event = { event_type: 'bench.event', data: { note: 'n'.repeat(1000) } }
const body = JSON.stringify(event)

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
    const send = async (): Promise<void> => {
      const status = await (listening ? post() : call())
      if (status !== 200) throw new Error(`the gateway answered ${status}`)
    }
    await sideBySide(warmUp, concurrency, send)
    return {
      work: () => sideBySide(requests, concurrency, send),
      async close() {
        await dispatcher.close()
        server.close()
        await posthorn.stop()
        await close()
      },
    }
  }
}

function burstOn(engine: Engine): Contender {
  return async (setting) => {
    const { posthorn, close } = await openPosthorn(engine, setting)
    await posthorn.endpoints.create('default', { request: { url: 'https://example.com/' }, events: ['*'] })
    const create = (): Promise<unknown> => posthorn.events.create('default', event)
    await sideBySide(warmUp, burstWidth, create)
    return {
      work: () => sideBySide(burst, burstWidth, create),
      async close() {
        await posthorn.stop()
        await close()
      },
    }
  }
}

const gateways: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.flatMap((engine) =>
    (['sync', 'async'] as const).flatMap((kind) =>
      (['handler', 'listener'] as const).map((way): [string, Contender] => [
        `${engine}, ${kind}, ${way}`,
        gatewayOf(engine, kind === 'async', way === 'listener'),
      ]),
    ),
  ),
)
const bursts: Readonly<Record<string, Contender>> = Object.fromEntries(
  engines.map((engine) => [`${engine}, events.create`, burstOn(engine)]),
)

async function main(): Promise<void> {
  const servers = await startServers()
  const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const chosen = (from: object): readonly string[] =>
    Object.keys(from).filter((name) => named.length === 0 || named.some((part) => name.includes(part)))
  const measure = (from: object, items: number): Promise<readonly Summary[]> =>
    compare(chosen(from), {
      rounds,
      items,
      setting: async () => ({ ...freshPlace(servers), url: '', events: items, data: '' }),
    })
  const summaries = [...(await measure(gateways, requests)), ...(await measure(bursts, burst))]
  await servers.stop()
  say(
    `ingest: ${requests} requests of 1 KiB to the gateway, ${concurrency} at a time, and ${burst} calls of events.create, ` +
      `${burstWidth} at a time, median of ${rounds} interleaved runs`,
  )
  say(machine())
  table(
    ['', 'a second', 'CPU µs/event', 'servers µs/event', 'peak MiB'],
    summaries.map(({ name, perSecond, cpuMicros, serverMicros, peakMiB }) => [
      name,
      perSecond.toFixed(0),
      cpuMicros.toFixed(0),
      serverMicros.toFixed(0),
      peakMiB.toFixed(0),
    ]),
  )
}

if (!(await isRun({ ...gateways, ...bursts }))) {
  await main()
  process.exit()
}
