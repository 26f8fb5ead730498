import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'

import type { Options } from '../../src/options.ts'
import { served } from '../support/served.ts'
import { startWebhookx, withoutWebhookx } from '../support/webhookx.ts'
import { type Difference, differences, type Seen, seenOf, settled } from './compare.ts'
import { rules } from './differences.ts'
import * as requests from './requests.ts'

// The same requests to the real server of WebhookX 1.2.0 and to ours, with the switch and without. Every difference must
// be a line of the table of docs/moving-from-webhookx.md, and every line of the table must be a difference.

const missing = withoutWebhookx(inject('postgresUrl'))
if (missing !== null) process.stderr.write(`SKIPPED: requests beside WebhookX: ${missing}\n`)

interface Face {
  readonly admin: string
  readonly gateway: string
  readonly receiver: string
}

/** A receiver that remembers every request; `/bad` answers 500. */
async function receiver() {
  const received: { readonly path: string; readonly seen: Seen }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const pairs = request.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, request.rawHeaders[i + 1]!]] : []))
      const headers = settled(Object.fromEntries(pairs), url) as Record<string, string> // texts stay texts
      const body = Buffer.concat(chunks).toString()
      const names = Object.keys(headers).filter((name) => name.toLowerCase() !== 'host')
      const told = Object.fromEntries(names.map((name) => [name.toLowerCase(), headers[name]!])) // its own names
      const isLower = names.every((name) => name === name.toLowerCase())
      const form = isLower ? 'lower-case' : names.every((name) => /^[A-Z]/.test(name)) ? 'canonical' : 'mixed'
      received.push({
        path: `${request.method} ${request.url}`,
        seen: { status: 0, headers: told, body: { form, text: body } },
      })
      response.writeHead(request.url === '/bad' ? 500 : 200, { 'x-reply': 'a', 'set-cookie': ['a=1', 'b=2'] })
      if (request.url === '/slow') setTimeout(() => response.end('received'), 3000)
      else response.end('received')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address() as { port: number } // a TCP server's address has one
  const url = `http://127.0.0.1:${address.port}`
  return { url, received, close: () => void server.close() }
}

async function asked(face: Face, ask: requests.Ask): Promise<Seen> {
  const text = ask.body === undefined ? null : typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body)
  const headers = text === null ? {} : { 'content-type': ask.yaml === true ? 'text/plain' : 'application/json' }
  const body = text?.replaceAll('http://receiver.test', face.receiver)
  const init = { method: ask.method, headers, ...(body !== undefined && { body }) }
  const response = await fetch(`${face[ask.face]}${ask.path}`, init)
  const answer = await response.text()
  return seenOf(ask, response, valueOf(answer), face.receiver)
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.startsWith('endpoints:') ? parse(text) : text
  }
}

/** All that one server showed, by what was asked of it. */
async function shown(
  face: Face,
  received: Awaited<ReturnType<typeof receiver>>['received'],
  settle: () => Promise<void>,
) {
  const all = new Map<string, Seen>()
  let count = 0
  const run = async (list: readonly requests.Ask[]) => {
    for (const ask of list) all.set(`${++count} ${ask.method} ${ask.path}`, await asked(face, ask))
  }
  const arrived = async (deliveries: number) => {
    for (let tries = 0; received.length < deliveries && tries < 200; tries++) await sleep(50)
    await sleep(300) // what comes twice, or was not expected, and the record of the last one
  }
  await run(requests.configuration)
  await run(requests.prepared)
  await settle()
  await run(requests.events)
  await arrived(6)
  await run([requests.retry])
  await arrived(7)
  await run(requests.outcomes)
  for (const one of await attemptsOf(face)) {
    const ask = { about: 'GET /attempts/:id', face: 'admin', method: 'GET', path: `/attempts/${one.id}` } as const
    const of = `${one.event_type} to ${one.endpoint_id.trimEnd()}, ${one.trigger_mode} ${one.attempt_number}`
    all.set(nameOf(all, `an attempt for ${of}`), await asked(face, ask))
  }
  const before = received.length
  await run([requests.disabled])
  await run(requests.wildcard)
  await settle()
  await run([requests.wildcardEvent])
  await arrived(before + 1)
  const waiting = received.length
  await run(requests.slowly)
  await arrived(waiting + 1)
  await run([requests.meanwhile])
  for (const { path, seen } of received) {
    // A delivery by GET has a body there and none here; others have bodies that mean the same.
    const { text } = seen.body as { text: string }
    const data = path.startsWith('GET') ? '' : ` of ${JSON.stringify(JSON.parse(text))}`
    all.set(nameOf(all, `a delivery: ${path}${data}`), seen)
  }
  return all
}

function nameOf(all: ReadonlyMap<string, unknown>, name: string): string {
  for (let n = 1; ; n++) if (!all.has(`${name} (${n})`)) return `${name} (${n})`
}

interface Made {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly trigger_mode: string
  readonly attempt_number: number
}

/** All attempts, with the types of their events. */
async function attemptsOf({ admin }: Face) {
  const listed = async <Row>(path: string) =>
    ((await (await fetch(`${admin}${path}`)).json()) as { data: readonly Row[] }).data
  const events = await listed<{ id: string; event_type: string }>('/events?limit=1000')
  const types = new Map(events.map(({ id, event_type }) => [id, event_type]))
  const made = await listed<Made>('/attempts?limit=1000')
  return made.map((one) => ({ ...one, event_type: types.get(one.event_id)! })) // attempts have an event
}

const nothing: Seen = { status: -1, headers: {}, body: undefined }

function between(theirs: ReadonlyMap<string, Seen>, ours: ReadonlyMap<string, Seen>): readonly Difference[] {
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((name) =>
    differences(name, theirs.get(name) ?? nothing, ours.get(name) ?? nothing),
  )
}

const unclaimed = (found: readonly Difference[], by: typeof rules) =>
  found.filter((difference) => !by.some(({ claims }) => claims(difference)))

describe.skipIf(missing !== null)(`requests beside WebhookX${missing === null ? '' : ` (${missing})`}`, () => {
  let switchedOn: readonly Difference[] = []
  let switchedOff: readonly Difference[] = []
  const closing: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })

  async function rivalFace(worker: boolean) {
    const server = await startWebhookx(inject('postgresUrl')!, { worker }) // skipped where it is null
    const target = await receiver()
    closing.push(() => server.stop(), target.close)
    return { face: { ...server, receiver: target.url }, received: target.received }
  }
  async function ourFace(options: Options, worker: boolean) {
    const server = await served(options, { worker })
    const target = await receiver()
    closing.push(() => server.stop(), target.close)
    return { face: { ...server, receiver: target.url }, received: target.received }
  }

  beforeAll(async () => {
    const working = await Promise.all([rivalFace(true), ourFace({ compatible: 'webhookx' }, true), ourFace({}, true)])
    // Routes and endpoints of WebhookX are rebuilt by a message.
    const [theirs, on, off] = await Promise.all(
      working.map(({ face, received }) => shown(face, received, () => sleep(2500))),
    )
    const resting = await Promise.all([
      rivalFace(false),
      ourFace({ compatible: 'webhookx' }, false),
      ourFace({}, false),
    ])
    for (const ask of requests.idle) {
      const seen = await Promise.all(resting.map(({ face }) => asked(face, ask)))
      for (const [i, map] of [theirs!, on!, off!].entries()) map.set(`no worker: ${ask.method} ${ask.path}`, seen[i]!)
    }
    switchedOn = between(theirs!, on!)
    switchedOff = between(theirs!, off!)
  }, 120_000)

  test('with the switch, every difference is one that the table says stays', () => {
    expect(
      unclaimed(
        switchedOn,
        rules.filter(({ seen }) => seen !== 'without'),
      ),
    ).toEqual([])
  })

  test('without the switch, every difference is in the table', () => {
    const known = rules.filter(({ seen }) => seen !== 'with')
    expect(unclaimed(switchedOff, known)).toEqual([])
  })

  test.each(rules)('$row: is seen', ({ claims, seen }) => {
    expect([switchedOff.some(claims), switchedOn.some(claims)]).toEqual([seen !== 'with', seen !== 'without'])
  })
})

/** The lines of the table: what differs, and what the switch does about it. */
function table() {
  const text = readFileSync('docs/moving-from-webhookx.md', 'utf8')
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
  return lines.map((line) => {
    const [what, , , on, why] = line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim())
    return { what, on, why }
  })
}

test('the table of the documentation has a line for each difference that is looked for, with its reason, and no other', () => {
  expect(table().map(({ what }) => what)).toEqual(rules.map(({ row }) => row))
  const ended = (is: boolean) => (is ? 'as WebhookX' : expect.not.stringMatching(/^as WebhookX$/))
  expect(table().map(({ on }) => on)).toEqual(rules.map(({ seen }) => ended(seen === 'without')))
  expect(table().filter(({ why }) => why === undefined || why === '')).toEqual([])
})
