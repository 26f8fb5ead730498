import type { Context } from '../context.ts'
import type { Bounds, ConfigPlan, Configuration, Stored } from '../contracts/storage/configuration.ts'
import { countsAfter, fullViolation } from '../core/capacity.ts'
import { recordText } from '../core/capture.ts'
import { planConfig } from '../core/config-plan.ts'
import { type EndpointDefaults, withEndpointDefaults } from '../core/endpoint-defaults.ts'
import { isHeld } from '../core/endpoint-row.ts'
import { oneLine } from '../core/one-line.ts'
import { rowBytes } from '../core/row-bytes.ts'
import { kinds } from '../core/row-plan.ts'
import { routesOf } from '../core/unique-keys.ts'
import { wholeDocument } from '../core/webhookx.ts'
import { invalid } from '../errors.ts'
import type { ConfigDocument, SyncReport } from '../schema/config.ts'
import type { Endpoint } from '../schema/endpoint.ts'
import { isPlainObject } from '../schema/fields.ts'
import type { Plugin } from '../schema/plugin.ts'
import type { Source } from '../schema/source.ts'
import type { ConfigService } from '../surface/config.ts'
import { givenDocument } from './secrets/given-document.ts'
import { sealedRowsOf } from './secrets/row-secrets.ts'
import { shownConfiguration } from './secrets/shown-configuration.ts'
import { refusalOf, taken } from './violation-error.ts'
import { inSlices, paced, type SliceClock } from '../runtime/slices.ts'
import { withWriteLock } from '../runtime/write-lock.ts'
import { parsedInParts } from './parse-document.ts'
import { pluginsByOwner, desiredConfiguration } from './desired-configuration.ts'
import { endpointFields } from './endpoints.ts'
import {
  boundsOf,
  defaultWorkspace,
  unknownWorkspace,
  unwrittenDefault,
  violationError,
  writableWorkspace,
} from './resolve-workspace.ts'

export function configurationSync(ctx: Context): ConfigService {
  /** The default workspace has no stored configuration until somebody writes it. */
  async function configurationOf(id: string): Promise<Configuration | null> {
    const found = await ctx.storage.configuration(id)
    if (found !== null || id !== defaultWorkspace) return found
    return { workspace: unwrittenDefault(ctx), revision: 0, endpoints: [], sources: [], plugins: [] }
  }

  return {
    async sync(id, document, { dryRun = false } = {}) {
      if (!dryRun && id === defaultWorkspace) await writableWorkspace(ctx, id)
      refuseTooMany(document, boundsOf(ctx))
      const secrets = ctx.secrets.seals ? await sealedRowsOf(ctx.secrets) : null
      const early = secrets === null ? await parsed(ctx, document) : null
      return await withWriteLock<SyncReport>(ctx.storage, id, async () => {
        const stored = await configurationOf(id)
        if (stored === null) throw unknownWorkspace(id)
        const bounds = boundsOf(ctx, stored.workspace)
        refuseTooMany(document, bounds)
        const current = secrets === null ? stored : await secrets.readableConfiguration(stored)
        // What a mask means is known once the rows are known. Where secrets are sealed nothing was parsed before.
        const given = early ?? (await parsed(ctx, await givenDocument(secrets!, document, stored, current)))
        const desired = await desiredConfiguration(ctx, current, given)
        const planned = await paced(ctx.clock, planConfig(current, desired, ctx.clock.now(), ctx.newId))
        if ('violation' in planned) throw violationError(planned.violation)
        const { report } = planned
        const plan = dryRun || secrets === null ? planned.plan : await secrets.sealedPlan(planned.plan, stored, current)
        const growth = await growthOf(ctx.clock, plan, stored)
        if (dryRun) {
          refuseBeyond(bounds, current, plan)
          await ctx.room.write(id, growth, () => refuseTakenRoutes(ctx, id, plan.sources.put))
          return withWarnings(report, desired.warnings)
        }
        const outcome = await ctx.room.write(id, growth, () =>
          ctx.storage.applyConfig({ ...plan, bounds }, current.revision),
        )
        if (outcome === 'conflict') return outcome
        if (outcome !== 'applied') throw await refusalOf(ctx, id, outcome)
        const released = releasedBy(planned.plan, current)
        if (released.length > 0) await ctx.resumed(released)
        const answer = withWarnings(report, desired.warnings)
        for (const warning of answer.warnings ?? []) {
          ctx.log.warn(`config sync of workspace ${id}: ${recordText(oneLine(warning), 512)}`)
        }
        return answer
      })
    },

    async dump(id, { secrets } = {}) {
      const current = await configurationOf(id)
      if (current === null) throw unknownWorkspace(id)
      return await documentOf(ctx.clock, await shownConfiguration(ctx, current, secrets))
    },
  }
}

/** A document that its schema passed. */
async function parsed(ctx: Context, document: unknown) {
  const given = await parsedInParts(ctx.clock, withDefaults(document, ctx.settings.deliver.defaults))
  return ctx.settings.compatible === 'webhookx' ? wholeDocument(given) : given
}

function withDefaults(document: unknown, defaults: EndpointDefaults): unknown {
  if (!isPlainObject(document) || !Array.isArray(document['endpoints'])) return document
  return { ...document, endpoints: document['endpoints'].map((entry) => withEndpointDefaults(entry, defaults)) }
}

const maxWarnings = 100

/** A report with the first hundred warnings and the number of the others. */
function withWarnings(report: SyncReport, warnings: readonly string[]): SyncReport {
  if (warnings.length === 0) return report
  const others = warnings.length - maxWarnings
  const told = warnings.slice(0, maxWarnings)
  return { ...report, warnings: others > 0 ? [...told, `${others} more`] : told }
}

/** Refuses lists that are too long before anything in them is looked at. */
function refuseTooMany(document: unknown, bounds: Bounds): void {
  if (!isPlainObject(document)) return
  const rule = (max: number) => `maximum number of items is ${max}`
  let plugins = 0
  for (const kind of ['endpoints', 'sources'] as const) {
    const entries: unknown = document[kind]
    if (!Array.isArray(entries)) continue
    if (entries.length > bounds[kind]) throw invalid({ [kind]: rule(bounds[kind]) })
    for (const [i, entry] of entries.entries()) {
      const owned: unknown = isPlainObject(entry) ? entry['plugins'] : null
      plugins += Array.isArray(owned) ? owned.length : 0
      if (plugins <= bounds.plugins) continue
      throw invalid({ [kind]: [...Array<null>(i).fill(null), { plugins: rule(bounds.plugins) }] })
    }
  }
}

/** By how many bytes of JSON a configuration grows by a plan. */
async function growthOf(clock: SliceClock, plan: ConfigPlan, before: Configuration): Promise<number> {
  let growth = 0
  for (const kind of kinds) {
    const { put, remove } = plan[kind]
    const gone = new Set([...remove, ...put.map(({ id }) => id)])
    await inSlices<Stored<object & { readonly id: string }>>(clock, before[kind], ({ row }) => {
      if (gone.has(row.id)) growth -= rowBytes(row)
    })
    await inSlices<object>(clock, put, (row) => (growth += rowBytes(row)))
  }
  return growth
}

/** For a dry run: what storage would judge at the write. */
function refuseBeyond(bounds: Bounds, { endpoints, sources, plugins }: Configuration, plan: ConfigPlan): void {
  const rows = { endpoints, sources, plugins }
  const patterns = new Map(endpoints.map(({ row }) => [row.id, row.events.length]))
  const ids = (kind: keyof typeof rows) => new Set<string>(rows[kind].map(({ row }) => row.id))
  const there = { endpoints: ids('endpoints'), sources: ids('sources'), plugins: ids('plugins') }
  const counts = {
    endpoints: endpoints.length,
    sources: sources.length,
    plugins: plugins.length,
    patterns: [...patterns.values()].reduce((sum, count) => sum + count, 0),
  }
  const after = countsAfter(plan, {
    counts,
    has: (kind, id) => there[kind].has(id),
    patternsOf: (id) => patterns.get(id) ?? 0,
    orphans: [], // a plan of a document lists the plugins that go
  })
  const violation = fullViolation({ ...plan, bounds }, counts, after)
  if (violation !== null) throw violationError(violation)
}

/**
 * What a dry run looks up in other workspaces; storage judges the same when it writes. An id that another workspace has
 * shows only at the write.
 */
async function refuseTakenRoutes(ctx: Context, workspaceId: string, sources: readonly Source[]): Promise<void> {
  const holders = await ctx.storage.routes(sources.flatMap(routesOf))
  if (holders.some((route) => route !== null && route.workspaceId !== workspaceId)) throw taken('path')
}

/** Endpoints whose attempts wait, and which are no such endpoints after a plan. */
function releasedBy({ endpoints: { put, remove } }: ConfigPlan, { endpoints }: Configuration): readonly string[] {
  const after = new Map(put.map((row) => [row.id, isHeld(row)]))
  for (const id of remove) if (!after.has(id)) after.set(id, false)
  return endpoints.flatMap(({ row }) => (isHeld(row) && after.get(row.id) === false ? row.id : []))
}

/** A configuration as the document that changes nothing when it is synced back. */
async function documentOf(clock: SliceClock, current: Configuration): Promise<ConfigDocument> {
  const plugins = pluginsByOwner(current)
  async function entriesOf<Row extends { id: string; created_at: number; updated_at: number }, Entry>(
    rows: readonly { readonly row: Row }[],
    entryOf: (fields: Omit<Row, 'created_at' | 'updated_at'>) => Entry,
  ) {
    const entries: (Entry & { plugins: ReturnType<typeof pluginEntry>[] })[] = []
    const inOrder = rows.toSorted(byText(({ row }) => row.id))
    await inSlices(clock, inOrder, ({ row: { created_at: _created, updated_at: _updated, ...fields } }) => {
      const owned = [...(plugins.get(fields.id)?.values() ?? [])].toSorted(byText(({ name }) => name))
      entries.push({ ...entryOf(fields), plugins: owned.map(pluginEntry) })
    })
    return entries
  }
  return {
    endpoints: await entriesOf(current.endpoints, endpointEntry),
    sources: await entriesOf(current.sources, (entry) => entry),
  }
}

/**
 * A field that WebhookX does not know is left out while it has the default value: so WebhookX can read the document
 * too.
 */
function endpointEntry({ paused, retry, ...entry }: Omit<Endpoint, 'created_at' | 'updated_at'>) {
  const { jitter, ...config } = retry.config
  return {
    ...endpointFields(entry),
    retry: { ...retry, config: { ...config, ...(jitter !== 0 && { jitter }) } },
    ...(paused && { paused }),
  }
}

function pluginEntry({ id, name, enabled, config, metadata }: Plugin) {
  return { id, name, enabled, config, metadata }
}

function byText<Row>(textOf: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => (textOf(a) < textOf(b) ? -1 : 1) // no two rows share an id, no two plugins of an owner a name
}
