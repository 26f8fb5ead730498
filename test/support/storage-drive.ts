import { isDeepStrictEqual } from 'node:util'
import type { Claim } from '../../src/contracts/queue.ts'
import type { AttemptQuery, NewAttempt, Settlement } from '../../src/contracts/storage/attempts.ts'
import type { ListQuery, TimeRange } from '../../src/contracts/storage/list.ts'
import type { Storage } from '../../src/contracts/storage.ts'
import { random, type Random } from '../../src/testing/random.ts'
import * as rows from '../../src/testing/storage/rows.ts'

/** The ids of a drive. */
export interface Ids {
  readonly workspaces: readonly [string, string, string]
  /** The first and the last of the first workspace, the others of one each: jobs of an endpoint are of one workspace. */
  readonly endpoints: readonly [string, string, string, string]
  readonly sources: readonly string[]
  readonly plugins: readonly string[]
  /** A new id of an event, beside those that are known. */
  event(fresh: string, known: readonly string[], dice: Random): string
}

export const plainIds: Ids = {
  workspaces: ['w1', 'w2', 'w3'],
  endpoints: ['e1', 'e2', 'e3', 'e4'],
  sources: ['s1', 's2', 's3'],
  plugins: ['p1', 'p2', 'p3', 'p4'],
  event: (fresh) => fresh,
}

/** Ids as hostile as their form allows: words and separators of an engine's own keys, and each other's beginnings. */
export const hostileIds: Ids = {
  workspaces: ['room:1', 'workspaces', ':'],
  endpoints: ['queue:group:-', 'status:OPEN', 'undelivered', 'type:a'],
  sources: ['routes', 'holders:-', 'sources:routes'],
  plugins: ['plugins-of:endpoints:undelivered', '0', '_', 'plugins'],
  event(fresh, known, { below, of }) {
    const made = [
      `${of(known)}:attempts`,
      `${of(known)}:attempts`,
      of(known).replace(/:[a-z]+$/, ''),
      `${of(known)}:`,
      of(['idle', 'attempts', ':attempts', 'room:1:events', '0', '-', 'event:ev', ':attempts:attempts']),
      fresh,
    ][below(6)]!
    return made === '' || made.length > 64 || known.includes(made) ? fresh : made
  },
}

const names = [null, null, 'one', 'two', 'w1', 'Ünï']
const urls = ['http://a.test/', 'http://b.test/']
const types = ['a', 'a.b', 'c']

function timeRange({ below, of }: Random): TimeRange | undefined {
  if (below(3) > 0) return undefined
  return of([
    { eq: rows.start + below(60) },
    { gt: rows.start + below(60) },
    { gte: rows.start + below(60), lt: rows.start + below(90) },
    { lte: rows.start + below(60) },
  ])
}

function window(dice: Random, known: readonly string[]): ListQuery {
  const { below, of } = dice
  const window = { limit: 1 + below(6), page: null, after: null, before: null, descending: below(2) === 0 }
  const created = timeRange(dice)
  const filters = created === undefined ? {} : { created_at: created }
  return of([
    { ...window, ...filters, page: 1 + below(3) },
    { ...window, ...filters },
    { ...window, ...filters, after: of(known) },
    { ...window, ...filters, before: of(known) },
  ])
}

const some = <T>({ below, of }: Random, key: string, values: readonly T[]) =>
  below(3) === 0 ? { [key]: of(values) } : {}

/** Drives a storage through `steps` random steps, and answers all it said but revisions and tokens. */
export async function drive(
  storage: Storage & Required<Pick<Storage, 'queue'>>,
  seed: number,
  steps: number,
  ids: Ids = plainIds,
) {
  const { workspaces, endpoints, sources, plugins } = ids
  const [e1, e2, e3, e4] = endpoints
  const endpointsOf = new Map(workspaces.map((workspace, i) => [workspace, [[e1, e4], [e2], [e3]][i]!]))
  const dice = random(seed)
  const { below, of } = dice
  const said: unknown[] = []
  const claims: Claim[] = []
  const made: NewAttempt[] = []
  const events: string[] = ['ev']
  let now = rows.start
  let count = 0
  const fresh = (prefix: string) => `${prefix}${String((++count * 3701) % 10_007).padStart(5, '0')}`
  const times = () => ({ created_at: now, updated_at: now })
  const revisionOf = async (workspace: string) => (await storage.configuration(workspace))?.revision ?? 0
  const attemptOf = (event_id: string, endpoint_id: string): NewAttempt => {
    const attempt = rows.attempt(fresh('at'), event_id, {
      endpoint_id,
      scheduled_at: now + below(40) - 10,
      created_at: now,
    })
    made.push(attempt)
    return attempt
  }
  const endpointRow = () =>
    rows.endpoint(of(endpoints), {
      name: of(names),
      enabled: below(4) > 0,
      metadata: of<Record<string, string>>([{}, { k: 'v' }, { k: 'v', __proto: 'x' }]),
      request: { url: of(urls), method: 'POST', headers: null, timeout: 0 },
      events: [],
      ...times(),
    })
  const sourceRow = () => {
    const row = rows.source(of(sources), { name: of(names), enabled: below(4) > 0, ...times() })
    const methods = of([['POST'], ['POST', 'GET'], ['GET', 'GET']]) as typeof row.config.http.methods
    return { ...row, config: { http: { ...row.config.http, path: of(['/x', '/y']), methods } } }
  }
  const pluginRow = () =>
    rows.plugin(of(plugins), {
      name: of(['x', 'y']),
      ...times(),
      ...of([
        { endpoint_id: of(endpoints), source_id: null },
        { endpoint_id: null, source_id: of(sources) },
      ]),
    })

  const acts: (() => Promise<unknown>)[] = [
    () => storage.workspaces.insert(rows.workspace(of(workspaces), { name: of(names), ...times() })),
    async () => {
      const found = await storage.workspaces.find(of([...workspaces, 'one', 'two']))
      if (found === null) return null
      const from = found.revision - (below(5) === 0 ? 1 : 0)
      return [found.row, await storage.workspaces.update({ ...found.row, name: of(names), ...times() }, from)]
    },
    async () => below(6) === 0 && storage.workspaces.delete(of(workspaces)),
    () => storage.workspaces.list({ ...window(dice, workspaces), ...some(dice, 'name', ['one', 'w1']) }),

    () => storage.endpoints.insert(of(workspaces), endpointRow()),
    () => storage.endpoints.insert(of(workspaces), endpointRow()),
    () => storage.sources.insert(of(workspaces), sourceRow()),
    () => storage.plugins.insert(of(workspaces), pluginRow()),
    async () => {
      const workspace = of(workspaces)
      const row = endpointRow()
      const found = await storage.endpoints.get(workspace, row.id)
      return [found?.row, await storage.endpoints.update(workspace, row, found?.revision ?? 1)]
    },
    async () => {
      const workspace = of(workspaces)
      const row = sourceRow()
      const found = await storage.sources.get(workspace, row.id)
      return [found?.row, await storage.sources.update(workspace, row, found?.revision ?? 1)]
    },
    async () => {
      const workspace = of(workspaces)
      const row = pluginRow()
      const found = await storage.plugins.get(workspace, row.id)
      return [found?.row, await storage.plugins.update(workspace, row, found?.revision ?? 1)]
    },
    () => storage.endpoints.delete(of(workspaces), of(endpoints)),
    () => storage.sources.delete(of(workspaces), of(sources)),
    () => storage.plugins.delete(of(workspaces), of(plugins)),
    () =>
      storage.endpoints.list(of(workspaces), {
        ...window(dice, endpoints),
        ...some(dice, 'enabled', [true, false]),
        ...some(dice, 'metadata', [{ k: 'v' }, { k: 'w' }, {}]),
      }),
    () =>
      storage.plugins.list(of(workspaces), {
        ...window(dice, plugins),
        ...some(dice, 'endpoint_id', endpoints),
        ...some(dice, 'source_id', sources),
      }),
    async () => {
      const workspaceId = of(workspaces)
      const plan = {
        workspaceId,
        endpoints: { put: [endpointRow()], remove: [of(endpoints)] },
        sources: { put: below(2) === 0 ? [] : [sourceRow()], remove: [of(sources)] },
        plugins: { put: below(2) === 0 ? [] : [pluginRow()], remove: below(2) === 0 ? [] : [of(plugins)] },
      }
      return storage.applyConfig(plan, await revisionOf(workspaceId))
    },
    async () => {
      const found = await storage.configuration(of(workspaces))
      const bare = (kept: readonly { readonly row: unknown }[]) => kept.map(({ row }) => row)
      return found && [found.workspace, bare(found.endpoints), bare(found.sources), bare(found.plugins)]
    },
    () => storage.routes(['/x', '/y', '/z'].flatMap((path) => ['POST', 'GET'].map((method) => ({ path, method })))),

    ...Array.from({ length: 4 }, () => async () => {
      const entries = []
      for (let n = 1 + below(3); n > 0; n--) {
        const workspaceId = of(workspaces)
        const id = below(6) === 0 ? of(events) : ids.event(fresh('ev'), events, dice)
        events.push(id)
        const event = rows.event(id, {
          event_type: of(types),
          data: `"${'ü'.repeat(below(40))}"`,
          unique_id: of([null, null, 'u1', 'u2', '']),
          ingested_at: now + below(20),
          ...times(),
        })
        const revision = (await revisionOf(workspaceId)) + (below(10) === 0 ? 1 : 0)
        const attempts = Array.from({ length: below(4) }, () => attemptOf(id, of(endpointsOf.get(workspaceId)!)))
        entries.push(rows.entry(workspaceId, revision, event, attempts))
      }
      if (below(4) === 0) entries.push(...entries)
      const answers = await storage.events.ingest(entries, { enqueue: true })
      return answers.map((answer) => (answer.kind === 'rejected' ? answer.kind : answer))
    }),
    () => storage.events.get(of(workspaces), of(events)),
    ...Array.from({ length: 3 }, () => () => {
      const ingested = timeRange(dice)
      return storage.events.list(of(workspaces), {
        ...window(dice, events),
        ...some(dice, 'event_type', types),
        ...some(dice, 'unique_id', ['u1', 'u2', '']),
        ...(ingested && { ingested_at: ingested }),
        maxBytes: of([20, 100, 1 << 24]),
      })
    }),

    async () => {
      const taken = await storage.queue.claim({
        limit: 5,
        free: 5 + below(3),
        cap: 3,
        busy: { workspaces: new Map([[of(workspaces), below(4)]]), groups: new Map(), low: new Map() },
        leaveOut: new Set(below(4) === 0 ? [of(endpoints)] : []),
        leaseMs: 30,
        now,
        loads: below(2) === 0,
      })
      claims.push(...taken)
      const loaded = await storage.attempts.load(taken.map(({ id }) => id))
      const byId = new Map(loaded.map((delivery) => [delivery.attempt.id, delivery]))
      return taken.map(({ token: _, delivery, ...job }) => ({
        ...job,
        isLoaded: delivery === undefined || isDeepStrictEqual(delivery, byId.get(job.id) ?? null),
      }))
    },
    async () => {
      const last = made.slice(-12).map(({ id }) => id)
      return (await storage.attempts.load(last)).map(({ revision: _, ...delivery }) => delivery)
    },
    ...Array.from({ length: 4 }, () => async () => {
      if (made.length === 0) return null
      const settlements: Settlement[] = Array.from({ length: 1 + below(3) }, () => {
        const attempt = of(made)
        const status = of(['SUCCESSFUL', 'FAILED', 'FAILED', 'CANCELED'] as const)
        const workspaceId = of(workspaces)
        return rows.settlement(workspaceId, attempt, {
          status,
          attempted_at: of([null, now]),
          exhausted: status === 'FAILED' && below(2) === 0,
          error_code: of([null, 'TIMEOUT']),
          error_message: of([null, 'too \u0000 late \ud800']),
          request: of([
            null,
            { method: 'POST', url: 'http://a.test', headers: { a: 'b' }, body: null, fromEvent: true },
          ]),
          response: of([null, { status: 500, latency: 3, headers: { c: 'd' }, body: 'no\u0000pe \udfff' }]),
          settled_at: now + below(120_000),
          next: below(3) === 0 ? attemptOf(attempt.event_id, attempt.endpoint_id) : null,
          disable: below(3) === 0 ? { url: of(urls) } : null,
          // An endpoint belongs to one workspace.
          counted: endpointsOf.get(workspaceId)!.includes(attempt.endpoint_id) ? rows.counted : null,
          claim: claims.find(({ id }) => id === attempt.id) ?? null,
        })
      })
      return storage.attempts.settle(settlements, { enqueue: below(5) > 0 })
    }),
    () => {
      const workspaceId = of(workspaces)
      const one = () => attemptOf(of(events), of(endpointsOf.get(workspaceId)!))
      const attempts = Array.from({ length: below(3) }, () => (below(4) === 0 && made.length > 0 ? of(made) : one()))
      return storage.attempts.add(workspaceId, attempts, { enqueue: below(2) === 0 })
    },
    () => storage.attempts.get(of(workspaces), made.length === 0 ? 'at' : of(made).id),
    ...Array.from({ length: 4 }, () => () => {
      const attempted = timeRange(dice)
      const scheduled = timeRange(dice)
      const query: AttemptQuery = {
        ...window(dice, ['at', 'at05000', ...made.map(({ id }) => id)]),
        ...some(dice, 'event_id', events),
        ...some(dice, 'endpoint_id', endpoints),
        ...some(dice, 'status', ['OPEN', 'SUCCESSFUL', 'FAILED', 'CANCELED']),
        ...(attempted && { attempted_at: attempted }),
        ...(scheduled && { scheduled_at: scheduled }),
      }
      return storage.attempts.list(of(workspaces), query)
    }),
    () => {
      const after = made.length === 0 || below(2) === 0 ? null : of(made)
      return storage.attempts.overdue({
        before: now + below(30),
        after: after && ([after.scheduled_at, after.id] as const),
        limit: 1 + below(5),
      })
    },
    () => {
      const created = timeRange(dice)
      return storage.attempts.undelivered(of(workspaces), {
        ...some(dice, 'status', ['FAILED', 'CANCELED'] as const),
        ...some(dice, 'event_types', [['a'], ['a', 'c'], []]),
        ...some(dice, 'endpoint_id', endpoints),
        ...(created && { created_at: created }),
        after: of([null, 'at03000', 'at06000']),
        limit: 1 + below(5),
      })
    },
    async () => {
      while ((await storage.statistics.fold()) > 0);
      return (await storage.attempts.tallies(now + below(100_000))).toSorted((a, b) =>
        a.endpointId < b.endpointId ? -1 : 1,
      )
    },
    async () =>
      below(3) === 0 &&
      storage.purge({
        eventsBefore: of([null, now - below(60)]),
        attemptsBefore: of([null, now - below(60)]),
        limit: 1 + below(6),
      }),
    () => storage.turn(of(['a', 'b']), 50, now + below(50)),
    () => storage.queue.stats(now),
  ]

  for (const workspace of workspaces) await storage.workspaces.insert(rows.workspace(workspace))
  for (let step = 0; step < steps; step++) {
    now += below(6)
    said.push([step, await of(acts)()])
  }
  return said
}
