import { endpointRow } from '../../src/core/endpoint-row.ts'
import { goneEndpoint } from '../../src/core/gone-endpoint.ts'
import type { Kind, Rows } from '../../src/core/row-plan.ts'
import { workspaceRow } from '../../src/core/workspace-row.ts'
import type { Endpoint } from '../../src/schema/endpoint.ts'
import type { StoredEvent } from '../../src/schema/event.ts'
import type { Workspace } from '../../src/schema/workspace.ts'
import { isStorableText } from '../../src/schema/fields.ts'
import { number, type Row } from './values.ts'
import { raw } from './sql.ts'

export function workspaceOf(row: Row): Workspace {
  return workspaceRow(JSON.parse(row['document'] as string) as Workspace) // as it was written
}

/**
 * A configuration row: the stored document, with the columns in place of fields that are also written without the
 * document, when an endpoint is disabled.
 */
export function rowOf<K extends Kind>(kind: K, row: Row): Rows[K] {
  const document = JSON.parse(row['document'] as string) as Rows[K] // as it was written
  if (kind !== 'endpoints') return document
  const endpoint = endpointRow(document as Endpoint) // the kind says so
  const isGone = endpoint.enabled && row['enabled'] === false
  return (isGone ? goneEndpoint(endpoint, number(row['updated_at'])) : endpoint) as Rows[K]
}

/** The columns of an event, of a table called e. */
export const eventColumns = raw('e.id, e.event_type, e.data, e.ingested_at, e.unique_id, e.created_at, e.updated_at')

export function eventOf(row: Row): StoredEvent {
  return {
    id: row['id'] as string,
    event_type: row['event_type'] as string,
    data: row['data'] as string,
    ingested_at: number(row['ingested_at']),
    unique_id: row['unique_id'] as string | null,
    created_at: number(row['created_at']),
    updated_at: number(row['updated_at']),
  }
}

/** A text that was captured, with U+FFFD for what no column can hold: nothing is lost for it. */
export function storable(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null
  return isStorableText(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd')
}
