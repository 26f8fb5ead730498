import { expect, expectTypeOf, test } from 'vitest'

import type { Misfits, Operation, OperationName } from '../../src/operations/operation.ts'
import { operations } from '../../src/operations/table.ts'
import { memory } from '../../adapters/memory/index.ts'
import { createPosthorn } from '../../src/index.ts'

test('the functions of an instance are those of the table, and what is derived of them', () => {
  const posthorn = createPosthorn({ storage: memory() })
  const { workspaces, endpoints, sources, plugins, events, attempts, deliveries, config, eventTypes, instance } =
    posthorn
  const groups = { workspaces, endpoints, sources, plugins, events, attempts, deliveries, config, eventTypes, instance }
  const names = Object.entries(groups).flatMap(([noun, group]) => Object.keys(group).map((verb) => `${noun}.${verb}`))
  const lists = Object.entries(operations).flatMap(([name, { list }]) => (list ? [name] : []))
  expect(names.toSorted()).toEqual(
    [
      ...Object.keys(operations).filter((name) => name.includes('.')),
      ...lists.map((name) => name.replace('list', 'each')),
      'events.raw',
    ].toSorted(),
  )
  expect(posthorn.stats).toBeTypeOf('function')
})

test('no two operations share a method and a path', () => {
  const places = Object.values(operations).map(({ http }) => http)
  expect(new Set(places).size).toBe(places.length)
})

// The compiler runs this test: `npm run typecheck`.
test('a declaration that does not fit its function is named by the compiler', () => {
  type With<Name extends OperationName, Declared extends Operation> = Extract<
    Misfits<Record<OperationName, Operation> & Record<Name, Declared>>,
    Name
  >
  type Retry = { readonly http: 'POST {P}/events/{id}/retry'; readonly answers: { readonly 200: 'Attempt' } }
  expectTypeOf<With<'events.retry', Retry & { readonly query: readonly ['endpoint_id'] }>>().toBeNever()
  expectTypeOf<With<'events.retry', Retry>>().toEqualTypeOf<'events.retry'>()
  type Delete = { readonly http: 'DELETE {P}/sources/{id}' }
  expectTypeOf<With<'sources.delete', Delete & { readonly answers: { readonly 204: null } }>>().toBeNever()
  expectTypeOf<
    With<'sources.delete', Delete & { readonly answers: { readonly 200: 'Source' } }>
  >().toEqualTypeOf<'sources.delete'>()
})
