import type { Claim } from '../../contracts/queue.ts'
import type { AttemptQuery, Counted, NewAttempt, Settlement } from '../../contracts/storage/attempts.ts'
import type { IngestEntry } from '../../contracts/storage/events.ts'
import type { Storage } from '../../contracts/storage.ts'
import { endpointRow } from '../../core/endpoint-row.ts'
import { workspaceRow } from '../../core/workspace-row.ts'
import type { Endpoint } from '../../schema/endpoint.ts'
import type { StoredEvent } from '../../schema/event.ts'
import type { Plugin } from '../../schema/plugin.ts'
import type { Source } from '../../schema/source.ts'
import type { Workspace } from '../../schema/workspace.ts'
import { equal, there } from '../assert.ts'

// Rows as a case needs them: everything has a plain value, and a case names what it is about.

export const start = 1_767_225_600_000
const times = { created_at: start, updated_at: start }

export function workspace(id: string, more: Partial<Workspace> = {}): Workspace {
  return workspaceRow({ id, name: null, description: null, metadata: {}, ...times, ...more })
}

export function endpoint(id: string, more: Partial<Endpoint> = {}): Endpoint {
  return endpointRow({
    id,
    name: null,
    description: null,
    enabled: true,
    request: { url: 'https://example.com/hook', method: 'POST', headers: null, timeout: 10_000 },
    retry: { strategy: 'fixed', config: { attempts: [0, 60, 3600], jitter: 0 } },
    events: ['*'],
    metadata: {},
    rate_limit: null,
    ...times,
    ...more,
  })
}

export function source(
  id: string,
  more: Partial<Source> & { path?: string; methods?: ('GET' | 'POST' | 'PUT')[] } = {},
): Source {
  const { path = `/${id}`, methods = ['POST'], ...rest } = more
  return {
    id,
    name: null,
    enabled: true,
    type: 'http',
    config: { http: { path, methods, response: null } },
    async: false,
    metadata: {},
    rate_limit: null,
    ...times,
    ...rest,
  }
}

export function plugin(id: string, more: Partial<Plugin> = {}): Plugin {
  return {
    id,
    name: 'webhookx-signature',
    enabled: true,
    endpoint_id: null,
    source_id: null,
    config: {},
    metadata: {},
    ...times,
    ...more,
  }
}

export function event(id: string, more: Partial<StoredEvent> = {}): StoredEvent {
  return { id, event_type: 'order.paid', data: '{"n":1}', ingested_at: start, unique_id: null, ...times, ...more }
}

export function attempt(id: string, eventId: string, more: Partial<NewAttempt> = {}): NewAttempt {
  return {
    id,
    event_id: eventId,
    endpoint_id: 'ep',
    attempt_number: 1,
    scheduled_at: start,
    trigger_mode: 'INITIAL',
    created_at: start,
    ...more,
  }
}

export function settlement(workspaceId: string, of: NewAttempt, more: Partial<Settlement> = {}): Settlement {
  return {
    workspaceId,
    attempt: of,
    status: 'SUCCESSFUL',
    attempted_at: start + 10,
    exhausted: false,
    error_code: null,
    error_message: null,
    request: null,
    response: null,
    settled_at: start + 20,
    next: null,
    disable: null,
    counted: null,
    claim: null,
    ...more,
  }
}

/** How a case counts an outcome, where what is counted does not matter. */
export const counted: Counted = { event_type: 'order.paid', told: false }

/** All rows from the first on, unless the case asks otherwise. */
export const everything = {
  limit: 100,
  page: 1,
  after: null,
  before: null,
  descending: false,
  maxBytes: 1 << 24,
} satisfies AttemptQuery & { maxBytes: number }

export const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id)

export async function revisionOf(storage: Storage, workspaceId: string): Promise<number> {
  return there(await storage.configuration(workspaceId), `the configuration of ${workspaceId}`).revision
}

/** Makes a workspace and answers its revision. */
export async function made(storage: Storage, workspaceId: string): Promise<number> {
  equal(await storage.workspaces.insert(workspace(workspaceId)), 'written', `workspace ${workspaceId}`)
  return revisionOf(storage, workspaceId)
}

export function entry(
  workspaceId: string,
  revision: number,
  of: StoredEvent,
  attempts: readonly NewAttempt[] = [],
): IngestEntry {
  return { workspaceId, revision, event: of, attempts }
}

/** Makes a workspace `w` with these events, each with the attempts that name it, and answers its revision. */
export async function filled(
  storage: Storage,
  events: readonly StoredEvent[],
  attempts: readonly NewAttempt[] = [],
  enqueue = false,
): Promise<number> {
  const revision = await made(storage, 'w')
  const entries = events.map((one) =>
    entry(
      'w',
      revision,
      one,
      attempts.filter(({ event_id }) => event_id === one.id),
    ),
  )
  const answers = await storage.events.ingest(entries, { enqueue })
  equal(
    answers,
    events.map(() => ({ kind: 'stored' })),
    'ingest',
  )
  return revision
}

/** Takes every due job of the storage's own queue. */
export async function claimAll(storage: Storage, now = start, { loads = false } = {}): Promise<readonly Claim[]> {
  const queue = there(storage.queue, 'a queue of the same engine')
  return queue.claim({
    limit: 100,
    free: 400,
    cap: 100,
    busy: { workspaces: new Map(), groups: new Map(), low: new Map() },
    leaveOut: new Set(),
    leaseMs: 30_000,
    now,
    loads,
  })
}
