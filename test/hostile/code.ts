// The other tenant's functions, schemas and data are as hostile as they can be made.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import * as v from 'valibot'

import { createPosthorn } from '../../adapters/node/index.ts'
import { definePlugin } from '../../src/contracts/plugin.ts'
import { eventValidation } from '../../src/plugins/event-validation/index.ts'
import { functionPlugin } from '../../src/plugins/function/index.ts'
import { compare, type Verdict } from './quiet.ts'
import { makeRandom } from './random.ts'
import { type Case, hostileCases } from './schemas.ts'
import { hostileScripts } from './scripts.ts'

export interface Trial {
  readonly seconds: number
  readonly seed: number
}

const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Ends requests before they are stored, so that memory tells of the plugins alone. */
const stop = definePlugin({
  name: 'stop',
  sides: ['inbound'],
  config: v.object({}),
  prepare: () => ({ inbound: () => new Response(null, { status: 204 }) }),
})

const order = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, note: { pattern: '^[a-z ]*$' } },
}
const quietFunction = `function handle() {
  const { request } = webhookx
  request.setBody({ event_type: 'a', data: JSON.parse(request.getBody()).data })
}`
const fine: Case = { version: 'draft-07', schema: '{}', data: '1' }

/** The same sizes without the hostility. */
function harmlessCase({ schema, data }: Case): Case {
  const text = (length: number) => JSON.stringify('x'.repeat(Math.max(0, length - 2)))
  return { version: 'draft-07', schema: `{"title":${text(schema.length - 10)}}`, data: text(data.length) }
}

const harmlessScript = (script: string) =>
  `function handle() { webhookx.request.getBody() } // ${'x'.repeat(script.length)}`

export async function tryCode({ seconds, seed }: Trial): Promise<Verdict> {
  const arrived = new Map<string, number>()
  const server = createServer((request, response) => {
    arrived.set(String(request.headers['webhook-id']), performance.now())
    request.resume()
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const plugins = [functionPlugin(), eventValidation(), stop]
  const posthorn = createPosthorn({ plugins, logger, deliver: { allow: ['127.0.0.1'] } })
  await posthorn.workspaces.create({ id: 'quiet' })
  await posthorn.workspaces.create({ id: 'other' })
  const url = `http://127.0.0.1:${port}`
  await posthorn.endpoints.create('quiet', { name: 'e', events: ['*'], request: { url } })
  const validation = ({ version, schema }: Case) => ({ version, schemas: { a: schema }, verbose_response: true })

  async function source(workspace: string, id: string, kinds: Readonly<Record<string, object>>) {
    await posthorn.sources.create(workspace, { id, config: { http: { path: `/${id}` } }, rate_limit: null })
    const made: Record<string, string> = {}
    for (const [name, config] of Object.entries(kinds)) {
      const create = () => posthorn.plugins.create(workspace, { source_id: id, name, config: { ...config } })
      made[name] = (await patiently(create)).id
    }
    return made
  }
  const asValidated = validation({ version: 'draft-07', schema: JSON.stringify(order), data: '' })
  await source('quiet', 'quiet', { function: { function: quietFunction }, 'event-validation': asValidated })
  await posthorn.start()

  const post = (id: string, body: string) =>
    posthorn.gateway.fetch(new Request(`http://host/${id}`, { method: 'POST', body }))

  const random = makeRandom(seed)
  const [scripts, cases] = [hostileScripts(random), hostileCases(random)]

  /** Writes one plugin after the other, and sends what it is to judge. */
  async function lane(id: string, until: number, isHostile: boolean, count: (what: string) => void): Promise<void> {
    const made = await source('other', id, {
      ...(id.startsWith('f') ? { function: { function: 'function handle() {}' } } : {}),
      ...(id.startsWith('s') ? { 'event-validation': validation(fine) } : {}),
      stop: {},
    })
    while (performance.now() < until) {
      let body = '{"event_type":"a","data":{}}'
      let config: object
      if (made['function'] !== undefined) {
        const script: string = scripts.next().value
        config = { function: isHostile ? script : harmlessScript(script) }
      } else {
        const given: Case = cases.next().value
        const used = isHostile ? given : harmlessCase(given)
        config = validation(used)
        body = `{"event_type":"a","data":${used.data}}`
      }
      const plugin = made['function'] ?? made['event-validation']!
      const written = await posthorn.plugins.update('other', plugin, { config: { ...config } }).then(
        () => 'written',
        () => 'not written',
      )
      count(written)
      for (const answer of await Promise.all([post(id, body), post(id, body)])) {
        await answer.arrayBuffer()
        count(String(answer.status))
      }
    }
  }

  const verdict = await compare({
    seconds,
    arrived,
    post: (n) => post('quiet', JSON.stringify({ event_type: 'a', data: { id: n, note: 'plain words' } })),
    neighbour: {
      async act(phase, ms, isHostile, count) {
        const until = performance.now() + ms
        await Promise.all(['f1', 'f2', 's1', 's2'].map((id) => lane(`${id}-${phase}`, until, isHostile, count)))
      },
    },
  })
  await posthorn.stop()
  server.close()
  server.closeAllConnections()
  return verdict
}

/** Tries again for ten seconds: beyond the share of its workspace the check of a function is refused. */
async function patiently<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (cause) {
      if (tries === 20) throw cause
      await sleep(500)
    }
  }
}
