import type { NewAttempt } from '../contracts/storage/attempts.ts'
import type { Configuration } from '../contracts/storage/configuration.ts'
import type { Page } from '../contracts/storage/list.ts'
import type { StatisticsRow } from '../contracts/storage/statistics.ts'
import type { Storage } from '../contracts/storage.ts'
import { mergedConfiguration } from '../core/merged-configuration.ts'
import { equal } from './assert.ts'
import { alike, type Equivalence, inBoth, type Pair } from './equivalence.ts'
import { random } from './random.ts'
import { attempt, endpoint, entry, event, plugin, settlement, source, start, workspace } from './storage/rows.ts'

/**
 * Drives two storages with the same random operations, and throws at the first answer that differs. Their queues stay empty.
 *
 * @example await runStorageEquivalence({ seed: 1, operations: 500, left: memory(), right: myStorage })
 */
export async function runStorageEquivalence({ seed, operations, left, right }: Equivalence<Storage>): Promise<void> {
  const { below, of } = random(seed)
  const both = <Answer>(run: (storage: Storage, side: 'left' | 'right') => Promise<Answer>): Promise<Pair<Answer>> =>
    inBoth(left, right, run)
  const plain = { enqueue: false }
  const made: NewAttempt[] = []
  let now = start
  let count = 0
  /** The configuration's revisions that each side answered last, which may be stale by now. */
  const told = new Map<string, Pair<number>>()
  const earlier = new Map<string, Pair<Configuration>>()

  const rows = () => {
    const name = of([null, 'n1', 'n2', 'n3'])
    return { name, enabled: below(3) > 0, metadata: of([{}, { k: '1' }, { k: '2', l: '1' }]), updated_at: now }
  }
  const row = {
    endpoints: () => endpoint(`ep${below(5)}`, rows()),
    sources: () =>
      source(`s${below(5)}`, { ...rows(), path: `/${below(4)}`, methods: of([['POST'], ['GET', 'POST'], ['PUT']]) }),
    plugins: () => {
      const owner = of([{ endpoint_id: `ep${below(5)}` }, { source_id: `s${below(5)}` }])
      return plugin(`p${below(6)}`, { ...owner, name: `kind${below(2)}`, enabled: below(2) > 0 })
    },
  }
  const window = () => ({
    limit: 1 + below(4),
    descending: below(2) > 0,
    maxBytes: 1 << 20,
    ...of([
      { page: 1 + below(3), after: null, before: null },
      { page: null, after: null, before: null },
      { page: null, after: of(['ep1', 's2', 'p3', `e${1000 + below(50)}`]), before: null },
      { page: null, after: null, before: of(['ep3', 's1', 'p2', `e${1000 + below(50)}`]) },
    ]),
  })

  const operationsOf: ((workspaceId: string) => Promise<readonly [string, Pair<unknown>]>)[] = [
    async (id) => [
      'workspace',
      await both((storage) => storage.workspaces.insert(workspace(id, { name: nameOf(id) }))),
    ],
    async (ws) => {
      const kind = of(['endpoints', 'sources', 'plugins'] as const)
      const made = row[kind]()
      // Rows of each kind go to the collection of that kind.
      const insert = (storage: Storage) =>
        (storage[kind].insert as (ws: string, row: unknown) => Promise<unknown>)(ws, made)
      return [`insert ${kind} ${JSON.stringify(made)}`, await both(insert)]
    },
    async (ws) => {
      const kind = of(['endpoints', 'sources', 'plugins'] as const)
      const made = row[kind]()
      const update = async (storage: Storage) => {
        const kept = await storage[kind].get(ws, made.id)
        const collection = storage[kind] as { update(ws: string, row: unknown, from: number): Promise<unknown> }
        return collection.update(ws, made, kept?.revision ?? 0)
      }
      return [`update ${kind} ${JSON.stringify(made)}`, await both(update)]
    },
    async (ws) => {
      const kind = of(['endpoints', 'sources', 'plugins'] as const)
      const { id } = row[kind]()
      return [`delete ${kind} ${id}`, await both((storage) => storage[kind].delete(ws, id))]
    },
    async (ws) => {
      const kind = of(['endpoints', 'sources', 'plugins'] as const)
      const query = { ...window(), ...of([{}, { name: 'n1' }, { enabled: true }, { metadata: { k: '1' } }]) }
      return [
        `list ${kind} ${JSON.stringify(query)}`,
        await both((storage) => listed<unknown>(storage[kind].list(ws, query))),
      ]
    },
    async (ws) => {
      const read = await both((storage) => storage.configuration(ws))
      const before = earlier.get(ws)
      if (before !== undefined) await both((storage, side) => merges(storage, ws, before[side], read[side]))
      if (read.left !== null && read.right !== null) {
        told.set(ws, { left: read.left.revision, right: read.right.revision })
        earlier.set(ws, { left: read.left, right: read.right })
      }
      const bare = (configuration: typeof read.left) =>
        configuration && {
          endpoints: configuration.endpoints.map((kept) => kept.row),
          sources: configuration.sources.map((kept) => kept.row),
          plugins: configuration.plugins.map((kept) => kept.row),
        }
      return ['configuration', { left: bare(read.left), right: bare(read.right) }]
    },
    async (ws) => {
      const revisions = told.get(ws) ?? { left: 0, right: 0 }
      const batch = Array.from({ length: 1 + below(4) }, () => {
        const id = `e${1000 + (below(5) === 0 ? below(count + 1) : count++)}`
        const one = event(id, {
          event_type: `type${below(3)}`,
          unique_id: of([null, `u${below(20)}`]),
          created_at: now,
          ingested_at: now,
        })
        const tries = Array.from({ length: below(3) }, (_, i) =>
          attempt(`${id}-${count}-${i}`, id, {
            endpoint_id: `ep${i}`,
            created_at: now,
            scheduled_at: now + below(1000),
          }),
        )
        return [one, tries] as const
      })
      const answers = await both((storage, side) =>
        storage.events.ingest(
          batch.map(([one, tries]) => entry(ws, revisions[side], one, tries)),
          plain,
        ),
      )
      answers.left.forEach(({ kind }, i) => kind === 'stored' && made.push(...batch[i]![1]))
      return [`ingest ${JSON.stringify(batch)}`, answers]
    },
    async (ws) => {
      if (made.length === 0) return ['nothing', { left: 0, right: 0 }]
      const batch = Array.from({ length: 1 + below(4) }, () => {
        const one = of(made)
        const next =
          below(3) === 0 ? { ...one, id: `${one.id}+${count++}`, attempt_number: one.attempt_number + 1 } : null
        const status = next === null ? of(['SUCCESSFUL', 'FAILED', 'CANCELED'] as const) : 'FAILED'
        return settlement(ws, one, {
          status,
          next,
          exhausted: status === 'FAILED' && next === null,
          attempted_at: status === 'CANCELED' ? null : now,
          settled_at: now,
          counted: below(4) > 0 ? { event_type: `type${below(3)}`, told: below(2) > 0 } : null,
          response:
            below(2) > 0 ? { status: of([200, 302, 404, 500]), latency: below(9000), headers: null, body: null } : null,
          disable: below(8) === 0 ? { url: 'https://example.com/hook' } : null,
        })
      })
      const answers = await both((storage) => storage.attempts.settle(batch, plain))
      batch.forEach(({ next }, i) => next !== null && answers.left[i]?.settled === true && made.push(next))
      return [`settle ${JSON.stringify(batch)}`, answers]
    },
    async (ws) => {
      const id = `e${1000 + below(count + 1)}`
      return [`event ${id}`, await both((storage) => storage.events.get(ws, id))]
    },
    async (ws) => {
      const query = {
        ...window(),
        ...of([{}, { event_type: 'type1' }, { unique_id: 'u3' }, { created_at: { gte: now - 500 } }]),
      }
      return [`events ${JSON.stringify(query)}`, await both((storage) => listed(storage.events.list(ws, query)))]
    },
    async (ws) => {
      const filters = [
        {},
        { status: 'OPEN' },
        { status: 'FAILED' },
        { endpoint_id: 'ep1' },
        { event_id: 'e1003' },
        { event_type: 'type1' },
        { unique_id: 'u3' },
        { final: below(2) > 0, created_at: { gte: now - 500 } },
        { scheduled_at: { gte: now - 500, lt: now } },
        { created_at: { lt: now - 300 } },
      ] as const
      const query = { ...window(), ...of(filters) }
      return [`attempts ${JSON.stringify(query)}`, await both((storage) => listed(storage.attempts.list(ws, query)))]
    },
    async () => {
      const options = { before: now - below(500), after: null, limit: 1 + below(20) }
      return [`overdue ${JSON.stringify(options)}`, await both((storage) => storage.attempts.overdue(options))]
    },
    async (ws) => {
      const query = {
        after: null,
        limit: 1 + below(20),
        ...of([{}, { endpoint_id: 'ep0' }, { event_types: ['type0'] }]),
      }
      return [`undelivered ${JSON.stringify(query)}`, await both((storage) => storage.attempts.undelivered(ws, query))]
    },
    async (ws) => {
      await both(foldAll)
      const step = of(['minute', 'hour', 'day'] as const)
      const query = {
        workspaceId: of([ws, null]),
        step,
        from: start - 86_400_000,
        to: now + 86_400_000,
        ...of([{}, { endpoint_id: 'ep1' }, ...(step === 'minute' ? [] : [{ event_type: 'type1' }])]),
      }
      const by = of(['endpoint', step === 'minute' ? 'endpoint' : 'event_type', 'workspace'] as const)
      const names = [of(['ep0', 'type0', 'w0']), of(['ep1', 'type1', 'w1'])]
      const asked = await both(async ({ statistics }) => [
        await statistics.groups(query, by, 2),
        ordered(await statistics.sums(query, null)),
        ordered(await statistics.sums(query, { by, names })),
        await statistics.streak(ws, 'ep1'),
      ])
      return [`statistics ${JSON.stringify([query, by, names])}`, asked]
    },
    async () => {
      const options = { minutesBefore: now - below(200), hoursBefore: now - below(200), daysBefore: 0, limit: 1000 }
      await both(foldAll)
      return [`tidy ${JSON.stringify(options)}`, await both((storage) => storage.statistics.tidy(options))]
    },
    async () => {
      const kind = of(['exhausted', 'disabled'] as const)
      await both(foldAll)
      const listed = await both((storage) => storage.causes.list({ kind, after: null, limit: 5 }))
      await both((storage, side) => storage.causes.remove(listed[side].slice(0, 2)))
      return [`causes ${kind}`, listed]
    },
  ]

  for (let step = 0; step < operations; step++) {
    now += below(20)
    const ws = of(['w0', 'w0', 'w1'])
    const [what, answers] = await of(operationsOf)(ws)
    alike(seed, step, [ws, what], { left: comparable(answers.left), right: comparable(answers.right) })
  }
}

async function foldAll({ statistics }: Storage): Promise<void> {
  while ((await statistics.fold()) > 0);
}

/** Sums have no order of their own. */
function ordered(rows: readonly StatisticsRow[]): readonly StatisticsRow[] {
  const key = ({ time, group }: StatisticsRow): string => `${time} ${group}`
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** Each workspace has a different name, since names are unique: so all workspaces can be made. */
function nameOf(id: string): string {
  return `name of ${id}`
}

/** A page without what engines say of an empty page. */
async function listed<Row>(page: Promise<Page<Row>>): Promise<unknown> {
  const { rows, total, preceded, followed } = await page
  return rows.length === 0 ? { rows, total } : { rows, total, preceded, followed }
}

/** Without the cause of a refusal, which is the engine's own. */
function comparable(answer: unknown): unknown {
  return Array.isArray(answer)
    ? answer.map((one: unknown) => (typeof one === 'object' && one !== null && 'cause' in one ? 'rejected' : one))
    : answer
}

/** A storage that tells what changed since an earlier configuration tells the same as by the whole. */
async function merges(
  storage: Storage,
  workspaceId: string,
  earlier: Configuration,
  whole: Configuration | null,
): Promise<void> {
  if (storage.configurationSince === undefined) return
  const since = await storage.configurationSince(workspaceId, earlier.revision)
  equal(since && mergedConfiguration(earlier, since), whole, `${storage.name}: the configuration of ${workspaceId}`)
}
