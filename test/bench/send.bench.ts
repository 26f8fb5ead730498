import { createSocket } from 'node:dgram'
import { Agent, request as httpRequest } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

import { Agent as UndiciAgent, request as undiciRequest } from 'undici'

import { guardedClient } from '../../adapters/node/http-client.ts'
import { resolveNames } from '../../adapters/node/lookup.ts'
import type { loadUndici } from '../../adapters/node/undici-connections.ts'
import { isReceiver, startReceiver } from './receiver.ts'

const inFlight = 100
const roundMs = 2000
const rounds = 5
const timeoutMs = 10_000
const deliveries = 200_000

const body = JSON.stringify({ id: 'x'.repeat(32), text: 'y'.repeat(940) })
const headers = {
  'user-agent': 'Posthorn/bench',
  'content-type': 'application/json; charset=utf-8',
  'accept-encoding': 'identity',
  'webhook-id': 'evt_0123456789',
  'webhook-event-type': 'bench.event',
  'webhook-delivery-id': 'att_0123456789',
  'webhook-attempt': '1',
}

type Send = () => Promise<string>

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Our client, with the deny list on. */
function ours(url: string, load?: typeof loadUndici): Send {
  const client = guardedClient({ deny: ['@default'], allow: ['127.0.0.1'] }, load)
  const request = { method: 'POST', url, headers, body }
  const options = { timeoutMs, signal: new AbortController().signal, captureBytes: 65_536 }
  return async () => {
    const reply = await client.send(request, options)
    if (reply.kind !== 'response') throw new Error(JSON.stringify(reply))
    return reply.body
  }
}

/** What one would write by hand: a kept-alive agent, a timer, the body as text. */
function bareHttp(url: string): Send {
  const agent = new Agent({ keepAlive: true })
  return () =>
    new Promise((resolve, reject) => {
      const request = httpRequest(url, { agent, method: 'POST', headers }, (answer) => {
        answer.setEncoding('utf8')
        let text = ''
        answer.on('data', (chunk: string) => (text += chunk))
        answer.on('end', () => {
          clearTimeout(timer)
          resolve(text)
        })
        answer.on('error', reject)
      })
      const timer = setTimeout(() => request.destroy(new Error('timed out')), timeoutMs)
      request.on('error', reject)
      request.end(body)
    })
}

/** undici with one timeout over the whole exchange. */
function bareUndici(url: string): Send {
  const dispatcher = new UndiciAgent({ connections: inFlight, pipelining: 1 })
  return async () => {
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(), timeoutMs)
    const answer = await undiciRequest(url, { dispatcher, method: 'POST', headers, body, signal: over.signal })
    const text = await answer.body.text()
    clearTimeout(timer)
    return text
  }
}

/** undici with its own timeouts, which are between bytes and not over the whole. */
function bareUndiciIdle(url: string): Send {
  const settings = { connections: inFlight, pipelining: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  const dispatcher = new UndiciAgent(settings)
  return async () => await (await undiciRequest(url, { dispatcher, method: 'POST', headers, body })).body.text()
}

/** undici's lowest door, with one timeout over the whole exchange. */
function undiciDispatch(url: string): Send {
  const dispatcher = new UndiciAgent({ connections: inFlight, pipelining: 1 })
  const { origin, pathname } = new URL(url)
  return () =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let abort: (() => void) | undefined
      const timer = setTimeout(() => abort?.(), timeoutMs)
      dispatcher.dispatch(
        { origin, path: pathname, method: 'POST', headers, body },
        {
          onConnect: (cancel) => void (abort = cancel),
          onHeaders: () => true,
          onData: (chunk) => chunks.push(chunk) > 0,
          onComplete: () => {
            clearTimeout(timer)
            resolve(Buffer.concat(chunks).toString())
          },
          onError: reject,
        },
      )
    })
}

interface Rate {
  readonly perSecond: number
  /** Processor time of this process for each delivery, microseconds. Other work on the machine changes it little. */
  readonly cpuMicros: number
}

async function rateOf(send: Send, ms: number): Promise<Rate> {
  const startedAt = performance.now()
  const usedBefore = process.cpuUsage()
  let done = 0
  const worker = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      await send()
      done++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  const { user, system } = process.cpuUsage(usedBefore)
  return { perSecond: (done * 1000) / (performance.now() - startedAt), cpuMicros: (user + system) / done }
}

async function compare(url: string): Promise<void> {
  const contenders = {
    'posthorn, deny list on': ours(url),
    'posthorn over node:http': ours(url, async () => null),
    'bare node:http': bareHttp(url),
    'bare undici.request': bareUndici(url),
    'undici.request, idle timeouts': bareUndiciIdle(url),
    'undici dispatch': undiciDispatch(url),
  }
  const rates = new Map<string, Rate[]>()
  for (const send of Object.values(contenders)) await rateOf(send, roundMs / 2)
  for (let round = 0; round < rounds; round++) {
    for (const [name, send] of Object.entries(contenders)) {
      rates.set(name, [...(rates.get(name) ?? []), await rateOf(send, roundMs)])
    }
  }
  say(`Deliveries, ${inFlight} in flight, 1 KB, median of ${rounds} interleaved rounds of ${roundMs} ms`)
  const medians = Array.from(rates, ([name, all]) => ({
    name,
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
  }))
  const [mine] = medians
  for (const { name, perSecond, cpuMicros } of medians) {
    const part = `posthorn makes ${(mine!.perSecond / perSecond).toFixed(2)} of it`
    const cost = `${cpuMicros.toFixed(0).padStart(4)} us of processor each, posthorn ${(mine!.cpuMicros / cpuMicros).toFixed(2)} of it`
    say(`  ${name.padEnd(30)} ${perSecond.toFixed(0).padStart(6)}/s, ${part}; ${cost}`)
  }
}

/** The latency of a healthy endpoint while every slot twice over is held by dead names and hanging endpoints. */
async function neighbours(url: string): Promise<void> {
  const slots = 256
  const silent = createSocket('udp4')
  await new Promise<void>((ready) => silent.bind(0, '127.0.0.1', ready))
  const hanging = createServer((socket) => void socket.on('error', () => {}).resume())
  await new Promise<void>((ready) => hanging.listen(0, '127.0.0.1', ready))
  const { port } = hanging.address() as AddressInfo // it listens on a port
  const resolve = resolveNames({ servers: [`127.0.0.1:${silent.address().port}`] })
  const client = guardedClient({ deny: ['@default'], allow: ['127.0.0.1'], resolve })
  const over = new AbortController()
  const send = (to: string, ms: number) =>
    client.send(
      { method: 'POST', url: to, headers, body },
      { timeoutMs: ms, signal: over.signal, captureBytes: 65_536 },
    )
  const holding = Array.from({ length: slots }, async (_, i) => {
    while (!over.signal.aborted) {
      await Promise.all([send(`http://dead${i}.test/`, 1000), send(`http://127.0.0.1:${port}/${i}`, 1000)])
    }
  })
  const times: number[] = []
  const until = performance.now() + 5000
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (performance.now() < until) {
        const startedAt = performance.now()
        await send(url, timeoutMs)
        times.push(performance.now() - startedAt)
        await new Promise((next) => setTimeout(next, 1))
      }
    }),
  )
  over.abort()
  await Promise.all(holding)
  silent.close()
  hanging.close()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): string => sorted[Math.floor(sorted.length * part)]!.toFixed(1)
  say(`A healthy endpoint beside ${slots} dead names and ${slots} hanging endpoints, ${times.length} deliveries`)
  say(`  p50 ${at(0.5)} ms   p99 ${at(0.99)} ms   longest ${sorted.at(-1)!.toFixed(1)} ms`)
}

/** Memory and connections over many deliveries. */
async function endurance(url: string): Promise<void> {
  const client = guardedClient({ deny: ['@default'], allow: ['127.0.0.1'] })
  const { signal } = new AbortController()
  let left = deliveries
  let most = 0
  say(`Memory over ${deliveries} deliveries, ${inFlight} in flight`)
  const tell = (): void => {
    globalThis.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
    say(`  after ${String(deliveries - left).padStart(6)}: heap ${megabytes(heapUsed)}, resident ${megabytes(rss)}`)
  }
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      await client.send({ method: 'POST', url, headers, body }, { timeoutMs, signal, captureBytes: 65_536 })
      most = Math.max(most, client.connections)
      if (left % (deliveries / 4) === 0) tell()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  say(`  connections: ${most} at most`)
  await client.close?.()
}

if (!isReceiver()) {
  const { url, stop } = await startReceiver()
  await compare(url)
  await neighbours(url)
  await endurance(url)
  stop()
  process.exit()
}
