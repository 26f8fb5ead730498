import { describe, expect, test } from 'vitest'

import type { ConfigurationChange } from '../../src/contracts/observer.ts'
import { serviceFunctions } from '../../src/functions.ts'
import { functionOf } from '../../src/operations/functions-of.ts'
import type { OperationName } from '../../src/operations/operation.ts'
import { operations } from '../../src/operations/table.ts'
import type { Services } from '../../src/services/use-cases.ts'
import { createTestPosthorn } from '../../src/testing/test-posthorn.ts'
import { memoryTransaction } from '../../src/testing/memory-transaction.ts'
import { memoryLog } from '../http/api.ts'

const names = Object.keys(operations) as OperationName[]
const url = 'https://shop.test/hooks'
/** What only makes or reads something that belongs to no configuration. */
const untold = new Set<OperationName>(['endpoints.test', 'events.create', 'events.createMany'])

/** The arguments of an operation, whatever it does with them. */
function argumentsOf(name: OperationName): unknown[] {
  const { http, input, list, query = [], options, texts } = operations[name]
  return [
    ...(http.includes('{P}') ? ['acme'] : []),
    ...(http.includes('{id}') ? ['row'] : []),
    ...(input === undefined ? [] : [{}]),
    ...(list === true ? [{}] : []),
    ...query.map(() => 'other'),
    ...(options === undefined && texts === undefined ? [] : [{ secrets: 'clear' }]),
  ]
}

describe('every operation of the table', () => {
  /** Functions over use cases that do nothing and answer a row. */
  function functions(told: unknown[]) {
    const answer = { id: 'row', row: { id: 'row', data: '{}' }, created: true, data: '{}' }
    const useCase = async () => answer
    const services = new Proxy({}, { get: () => new Proxy({}, { get: () => useCase }) }) as Services
    return serviceFunctions(
      services,
      async (idOrName) => idOrName,
      (change) => void told.push(change),
    )
  }

  test.each(names)('%s is told where it changes or reveals something, and else is not', async (name) => {
    const told: unknown[] = []
    await functionOf(functions(told), name)(...argumentsOf(name)).catch(() => {}) // pages of the stand-in are no pages
    const { http } = operations[name]
    const changes = name === 'endpoints.secret' || (!http.startsWith('GET ') && !untold.has(name))
    const inWorkspace = http.includes('{P}')
    expect(told).toEqual(changes ? [{ operation: name, workspace: inWorkspace ? 'acme' : 'row', id: 'row' }] : [])
  })

  test.each(names.filter((name) => operations[name].options?.includes('dry_run')))(
    '%s is not told in a dry run',
    async (name) => {
      const told: unknown[] = []
      await functionOf(functions(told), name)(...argumentsOf(name).slice(0, -1), { dryRun: true })
      expect(told).toEqual([])
    },
  )
})

describe('who changed what', () => {
  function started() {
    const log = memoryLog()
    const posthorn = createTestPosthorn({
      logger: log,
      deliver: { sign: 'standard-webhooks' },
      admin: { authorize: (request) => ({ actor: request.headers.get('x-user') ?? '' }) },
    })
    const told: ConfigurationChange[] = []
    posthorn.on('change', (change) => void told.push(change))
    const ask = (method: string, path: string, body?: unknown) =>
      posthorn.admin.fetch(
        new Request(`http://admin.test${path}`, {
          method,
          headers: { 'x-user': 'ada' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
    return { posthorn, log, told, ask }
  }

  test('is told of requests with the actor that authorize names, and logged at info', async () => {
    const { posthorn, log, told, ask } = started()
    await posthorn.workspaces.create({ id: 'acme', name: 'Acme' })
    told.length = 0
    await ask('POST', '/workspaces/Acme/endpoints', { id: 'e', request: { url }, events: ['*'] })
    await ask('PATCH', '/workspaces/Acme/endpoints/e', { paused: true })
    await ask('PUT', '/workspaces/Acme/endpoints/e', { request: {} }) // refused
    await ask('GET', '/workspaces/Acme/endpoints/e/secret')
    await ask('POST', '/workspaces/Acme/endpoints/e/secret/rotate')
    await ask('GET', '/workspaces/Acme/endpoints/e')
    await ask('POST', '/workspaces/Acme/events', { event_type: 'x', data: {} })
    await ask('POST', '/workspaces/Acme/events/replay')
    await ask('POST', '/workspaces/Acme/config/sync?dry_run=true', {})
    await ask('POST', '/workspaces/Acme/config/sync', {})
    await ask('DELETE', '/workspaces/acme')
    const by = (operation: string, id: string | null) => ({ actor: 'ada', operation, workspace_id: 'acme', id })
    expect(told).toEqual([
      by('endpoints.create', 'e'),
      by('endpoints.patch', 'e'),
      by('endpoints.secret', 'e'),
      by('endpoints.rotateSecret', 'e'),
      by('events.replay', null),
      by('config.sync', null),
      by('workspaces.delete', 'acme'),
    ])
    const lines = log.lines.filter(({ message }) => message === 'endpoints.patch was called')
    expect(lines).toEqual([
      { level: 'info', message: 'endpoints.patch was called', details: by('endpoints.patch', 'e') },
    ])
  })

  test('is told of functions, with the actor where somebody says one', async () => {
    const { posthorn, told } = started()
    await posthorn.workspaces.ensure({ id: 'acme', name: 'Acme' })
    await posthorn.workspaces.ensure({ id: 'acme', name: 'Acme' })
    const { id } = await posthorn.as('job 7').endpoints.create('Acme', { request: { url } })
    expect(told).toEqual([
      { actor: null, operation: 'workspaces.ensure', workspace_id: 'acme', id: 'acme' },
      { actor: 'job 7', operation: 'endpoints.create', workspace_id: 'acme', id },
    ])
  })

  test('is told of a transaction after its commit', async () => {
    const { posthorn, told } = started()
    const tx = memoryTransaction()
    const bound = posthorn.using(tx)
    await bound.endpoints.create('default', { id: 'e', request: { url } })
    expect(told).toEqual([])
    await tx.commit()
    await bound.committed()
    expect(told).toEqual([{ actor: null, operation: 'endpoints.create', workspace_id: 'default', id: 'e' }])
  })

  test.each([
    [{ actor: 7 }, 403],
    [{}, 403],
    [{ actor: 'ada' }, 200],
    [true, 200],
    [false, 403],
  ])('authorize that answers %j lets pass or not: %i', async (verdict, status) => {
    const posthorn = createTestPosthorn({ admin: { authorize: () => verdict as boolean } })
    expect((await posthorn.admin.fetch(new Request('http://admin.test/endpoints'))).status).toBe(status)
  })
})
