import { describe, expect, test } from 'vitest'

import type { Configuration } from '../../src/contracts/storage/configuration.ts'
import { identify, planConfig, type DesiredConfiguration } from '../../src/core/config-plan.ts'
import { writtenEndpoint } from '../../src/core/endpoint-row.ts'
import type { Plugin } from '../../src/schema/plugin.ts'
import { endpointFields } from '../../src/services/endpoints.ts'
import * as rows from '../../src/testing/storage/rows.ts'
import { endpointRow } from '../support/rows.ts'

const workspace = rows.workspace('w')

function current(rows: Partial<Record<'endpoints' | 'sources' | 'plugins', readonly object[]>>): Configuration {
  const stored = (list: readonly object[] = []) => list.map((row) => ({ row, revision: 1 }))
  // The rows of a test are of the kind under whose name they stand.
  return {
    workspace,
    revision: 1,
    endpoints: stored(rows.endpoints),
    sources: stored(rows.sources),
    plugins: stored(rows.plugins),
  } as unknown as Configuration
}

const pluginRow = (changes: Partial<Plugin>): Plugin => ({
  id: 'plugin',
  name: 'kind',
  enabled: true,
  endpoint_id: null,
  source_id: null,
  config: {},
  metadata: {},
  created_at: 0,
  updated_at: 0,
  ...changes,
})

const nothing = { put: [], remove: [] }
const none = { created: 0, updated: 0, deleted: 0, unchanged: 0 }
const counter = () => {
  let count = 0
  return () => `new${++count}`
}
const fieldsOf = ({ id: _id, ...row }: ReturnType<typeof endpointRow>) => endpointFields(row)

describe('what entries mean', () => {
  const rows = [
    { id: 'a', name: 'x' },
    { id: 'b', name: null },
  ]
  const meaning = (...entries: { id: string | null; name: string | null }[]) => {
    const { meant, repeated } = identify(rows, entries)
    return [meant.map((row) => row?.id ?? null), [...repeated]]
  }

  test('the row with the id, else the one with the name, else a new one', () => {
    expect(meaning({ id: 'b', name: 'x' }, { id: null, name: 'x' }, { id: 'c', name: null })).toEqual([
      ['b', 'a', null],
      [],
    ])
    expect(meaning({ id: 'c', name: 'x' })).toEqual([['a'], []])
  })

  test('a row that is named by its id leaves its name to an entry with another id', () => {
    expect(meaning({ id: 'a', name: 'y' }, { id: 'c', name: 'x' })).toEqual([['a', null], []])
    expect(meaning({ id: 'a', name: 'y' }, { id: null, name: 'x' })).toEqual([['a', 'a'], [1]])
  })

  test('the same meaning twice is told', () => {
    expect(meaning({ id: 'a', name: null }, { id: 'a', name: null })).toEqual([['a', 'a'], [1]])
    expect(meaning({ id: null, name: 'new' }, { id: null, name: 'new' })).toEqual([[null, null], [1]])
    expect(meaning({ id: 'n', name: 'p' }, { id: 'n', name: 'q' })).toEqual([[null, null], [1]])
    expect(meaning({ id: null, name: 'x' }, { id: 'zz', name: 'x' })).toEqual([['a', 'a'], [1]])
  })
})

describe('a plan', () => {
  const plan = (rows: Parameters<typeof current>[0], wanted: DesiredConfiguration) =>
    finished(planConfig(current(rows), wanted, 9, counter()))

  test('says nothing of kinds that the document does not name', () => {
    const rows = { endpoints: [endpointRow({ id: 'e' })], sources: [{ id: 's', name: null, enabled: false }] }
    expect(plan(rows, { endpoints: null, sources: null })).toEqual({
      plan: { workspaceId: 'w', endpoints: nothing, sources: nothing, plugins: nothing },
      report: { endpoints: none, sources: none, plugins: none },
    })
  })

  test('writes what differs, with its id and creation, and removes what is not wanted', () => {
    const same = endpointRow({ id: 'same', metadata: { a: '1', b: '2' } })
    const old = endpointRow({ id: 'old', created_at: 3, updated_at: 3 })
    const gone = endpointRow({ id: 'gone' })
    const left = pluginRow({ id: 'p', endpoint_id: 'gone', source_id: null })
    const kept = pluginRow({ id: 'q', endpoint_id: null, source_id: 's' })
    const answer = plan(
      { endpoints: [same, old, gone], plugins: [left, kept], sources: [{ id: 's', name: null, enabled: false }] },
      {
        endpoints: [
          // The order of keys makes no difference.
          { id: null, existing: same, fields: { ...fieldsOf(same), metadata: { b: '2', a: '1' } }, plugins: [] },
          { id: null, existing: old, fields: { ...fieldsOf(old), enabled: !old.enabled }, plugins: [] },
          { id: null, existing: null, fields: fieldsOf(same), plugins: [] },
        ],
        sources: null,
      },
    )
    expect(answer).toEqual({
      plan: {
        workspaceId: 'w',
        endpoints: {
          put: [
            writtenEndpoint({ ...old, enabled: false, updated_at: 9 }, old),
            { ...same, id: 'new1', created_at: 9, updated_at: 9 },
          ],
          remove: ['gone'],
        },
        sources: nothing,
        plugins: { put: [], remove: ['p'] },
      },
      report: {
        endpoints: { created: 1, updated: 1, deleted: 1, unchanged: 1 },
        sources: none,
        plugins: { ...none, deleted: 1 },
      },
    })
  })

  test('gives plugins the id of their owner, new ones too', () => {
    const fields = { name: 'k', enabled: true, config: {}, metadata: {} }
    const answer = plan(
      {},
      {
        endpoints: [
          { id: null, existing: null, fields: fieldsOf(endpointRow()), plugins: [{ id: 'p', existing: null, fields }] },
        ],
        sources: null,
      },
    )
    expect(answer).toMatchObject({ plan: { plugins: { put: [{ id: 'p', endpoint_id: 'new1', source_id: null }] } } })
  })

  test('is refused where two rows would share a name', () => {
    const fields = { ...fieldsOf(endpointRow()), name: 'n' }
    const endpoints = ['a', 'b'].map((id) => ({ id, existing: null, fields, plugins: [] }))
    expect(plan({}, { endpoints, sources: null })).toEqual({
      violation: { kind: 'unique', key: { ws_id: 'w', name: 'n' } },
    })
  })
})

/** What a generator answers at its end. */
function finished<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
