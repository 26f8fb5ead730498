import { ask, query, segment } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { count, duration, Time } from '../kit/figures.tsx'
import { Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { settings } from '../kit/settings.ts'
import { Shown } from '../kit/states.tsx'
import { type Page, Table } from '../kit/table.tsx'
import type { Event } from '../kit/types.ts'
import { t, tOf } from '../texts.ts'

const refreshMs = 10_000
const asked = 100
const maxShown = 8

/** What operational events say of what they are about, as far as it is shown. */
interface About {
  readonly workspace_id?: string
  readonly endpoint_id?: string
  readonly source_id?: string
  readonly operation?: string
  readonly actor?: string | null
  readonly reason?: string
  readonly queue_size?: number
  readonly age_seconds?: number
}

/** Operational events of one kind about one subject: the latest of them, and their number. */
interface Happening {
  readonly latest: Event
  readonly about: About
  readonly times: number
}

/** The latest operational events, of one workspace or of all; nothing where the instance publishes none. */
export function Happenings({ scope, workspace }: { readonly scope: Scope | null; readonly workspace: string | null }) {
  const { operations } = settings
  return operations === undefined ? null : <Listed scope={scope} workspace={workspace} of={operations} />
}

function Listed({
  scope,
  workspace,
  of,
}: {
  readonly scope: Scope | null
  readonly workspace: string | null
  readonly of: string
}) {
  const path = `/api/workspaces/${segment(of)}/events${query({ limit: asked })}`
  const loaded = useLoad(path, (signal) => ask<Page<Event>>(path, { signal }), { everyMs: refreshMs })
  const title = t('operations.title')
  return (
    <Panel title={title} actions={<Link to={`/w/${segment(of)}/events`}>{t('operations.all')}</Link>}>
      <Shown of={loaded} rows={3}>
        {({ data }) => {
          const rows = together(data).filter(({ about }) => scope === null || about.workspace_id === workspace)
          if (rows.length === 0) return <p class="dim">{t('operations.none')}</p>
          return (
            <Table
              label={title}
              rows={rows.slice(0, maxShown)}
              keyOf={({ latest }) => latest.id}
              columns={[
                { title: t('operations.what'), cell: (row) => <What of={row} operations={of} /> },
                { title: t('operations.about'), from: 'mid', grows: true, cell: ({ about }) => <Subject of={about} /> },
                {
                  title: t('operations.times'),
                  from: 'mid',
                  number: true,
                  cell: ({ times }) => count(times),
                },
                { title: t('event.time'), cell: ({ latest }) => <Time at={latest.created_at} /> },
              ]}
            />
          )
        }}
      </Shown>
    </Panel>
  )
}

/** One row for all events of a kind about the same: a failing endpoint makes many of them. */
function together(events: readonly Event[]): readonly Happening[] {
  const found = new Map<string, Happening>()
  for (const event of events) {
    const about = event.data as About // Posthorn publishes these
    const { workspace_id, endpoint_id, source_id, operation, actor } = about
    const key = JSON.stringify([event.event_type, workspace_id, endpoint_id, source_id, operation, actor])
    const before = found.get(key)
    found.set(key, before === undefined ? { latest: event, about, times: 1 } : { ...before, times: before.times + 1 })
  }
  return [...found.values()]
}

const tones: Readonly<Record<string, 'good' | 'bad' | 'warn'>> = {
  'posthorn.delivery.exhausted': 'bad',
  'posthorn.endpoint.disabled': 'bad',
  'posthorn.endpoint.failing': 'warn',
  'posthorn.endpoint.recovered': 'good',
  'posthorn.source.refusing': 'warn',
  'posthorn.backlog.growing': 'warn',
}

function What({ of: { latest, about }, operations }: { readonly of: Happening; readonly operations: string }) {
  const { event_type, id } = latest
  return (
    <>
      <Link to={`/w/${segment(operations)}/events/${segment(id)}`}>
        <Badge tone={tones[event_type] ?? 'info'}>{tOf('operations', event_type)}</Badge>
      </Link>
      <span class="under narrow-only">
        <Subject of={about} />
      </span>
    </>
  )
}

/** What it is about: the endpoint or source, else who did what. */
function Subject({ of }: { readonly of: About }) {
  const { workspace_id = '', endpoint_id, source_id, operation, actor, reason, queue_size, age_seconds = 0 } = of
  const own = `/w/${segment(workspace_id)}`
  const id = endpoint_id ?? source_id
  const kind = endpoint_id === undefined ? 'sources' : 'endpoints'
  const path =
    id === undefined || operation !== undefined
      ? null
      : `/api/workspaces/${segment(workspace_id)}/${kind}/${segment(id)}`
  const { data: row } = useLoad(path, (signal) => onceAsked(path!, signal)) // called only with a path
  if (queue_size !== undefined) {
    const age = duration(age_seconds * 1000)
    return <span class="dim">{t('operations.backlog', { n: count(queue_size), age })}</span>
  }
  return (
    <>
      {id !== undefined && <Link to={`${own}/${kind}/${segment(id)}`}>{row?.name || id}</Link>}
      {id !== undefined && operation !== undefined && ' '}
      {operation}
      <span class="dim"> {operation === undefined ? reason && tOf('operations.reason', reason) : (actor ?? '')}</span>
    </>
  )
}

interface Named {
  readonly name?: string | null
}

/** Names seldom change: each is asked for once while the page is open. */
const named = new Map<string, Promise<Named>>()

function onceAsked(path: string, signal: AbortSignal): Promise<Named> {
  const before = named.get(path)
  if (before !== undefined) return before
  const asking = ask<Named>(path, { signal })
  named.set(path, asking)
  asking.catch(() => named.delete(path))
  return asking
}
