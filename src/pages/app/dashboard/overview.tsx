import { ask, askShared, query, segment } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { type Bucket, OutcomeChart, type Period, periodOf, Sparkline, statsQuery, sums } from '../kit/chart.tsx'
import { count, duration, percent } from '../kit/figures.tsx'
import { Figures, Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link, parameters } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Empty, Loading, Shown } from '../kit/states.tsx'
import { type Page, Table } from '../kit/table.tsx'
import type { Endpoint, StatsReport, StatusReport, Workspace } from '../kit/types.ts'
import { t } from '../texts.ts'
import { useEndpoints } from '../views/deliveries.tsx'
import { PeriodChoice } from '../views/health.tsx'
import { Happenings } from './happenings.tsx'

const refreshMs = 10_000

/** How a workspace does, or all of them. */
export function OverviewView({ scope }: { readonly scope: Scope | null }) {
  const workspace = useWorkspaceId(scope)
  const period = periodOf(parameters.value.get('period'))
  const base = scope === null ? '/api/instance/stats' : `${scope.api}/stats`
  return (
    <>
      <Head title={scope === null ? t('nav.allWorkspaces') : t('overview.title')}>
        <PeriodChoice />
      </Head>
      <Tries base={base} period={period} ofAll={scope === null} />
      {scope === null ? (
        <Groups
          title={t('overview.byWorkspace')}
          base={base}
          by="workspace"
          period={period}
          render={(id) => <WorkspaceName id={id} />}
        />
      ) : (
        <>
          <Failing scope={scope} />
          <div class="columns">
            <ByEndpoint scope={scope} base={base} period={period} />
            {period !== '1h' && (
              <Groups
                title={t('overview.byType')}
                base={base}
                by="event_type"
                period={period}
                render={(type) => type}
              />
            )}
          </div>
        </>
      )}
      <Happenings scope={scope} workspace={workspace} />
    </>
  )
}

/** Figures and the chart. They stand first, so that their data is asked for first: they are what a reader came for. */
function Tries({ base, period, ofAll }: { readonly base: string; readonly period: Period; readonly ofAll: boolean }) {
  const stats = useLoad(
    `${base} ${period}`,
    (signal) => ask<StatsReport>(`${base}${query(statsQuery(period))}`, { signal }),
    { everyMs: refreshMs },
  )
  const status = useLoad(ofAll ? 'status' : null, (signal) => ask<StatusReport>('/status', { signal }), {
    everyMs: refreshMs,
  })
  return (
    <>
      <Panel>
        <Shown of={stats} rows={2}>
          {({ data }) => <Totals buckets={data} status={status.data} />}
        </Shown>
      </Panel>
      <Panel title={t('overview.chart')}>
        <Shown of={stats} rows={6}>
          {({ data }) =>
            sums(data).tries === 0 ? <Empty title={t('overview.nothing')} /> : <OutcomeChart buckets={data} />
          }
        </Shown>
      </Panel>
    </>
  )
}

/** The id of the workspace that the address names; null until it is known. */
function useWorkspaceId(scope: Scope | null): string | null {
  const path = scope?.api ?? null
  const { data } = useLoad(path, (signal) => ask<Workspace>(path!, { signal }))
  return data?.id ?? null
}

function Totals({
  buckets,
  status,
}: {
  readonly buckets: readonly Bucket[]
  readonly status: StatusReport | undefined
}) {
  const { tries, rate, p50, p95, exhausted, canceled } = sums(buckets)
  return (
    <Figures
      of={[
        { name: t('overview.tries'), value: count(tries) },
        {
          name: t('overview.rate'),
          value: percent(rate),
          ...(rate !== null && { tone: rate >= 0.99 ? 'good' : rate >= 0.9 ? 'warn' : 'bad' }),
        },
        { name: t('overview.exhausted'), value: count(exhausted), ...(exhausted > 0 && { tone: 'bad' }) },
        { name: t('overview.canceled'), value: count(canceled) },
        { name: t('overview.p50'), value: duration(p50) },
        { name: t('overview.p95'), value: duration(p95) },
        ...(status === undefined
          ? []
          : [
              { name: t('overview.backlog'), value: count(status.queue.size) },
              { name: t('overview.oldest'), value: duration(status.queue.backlog_latency_secs * 1000) },
            ]),
      ]}
    />
  )
}

/** Endpoints that are off for a reason, or whose tries fail more than they succeed. */
function Failing({ scope }: { readonly scope: Scope }) {
  const off = useLoad(`off ${scope.api}`, (signal) =>
    ask<Page<Endpoint>>(`${scope.api}/endpoints?enabled=false&limit=100`, { signal }),
  )
  const recent = useLoad(`recent ${scope.api}`, () =>
    askShared<StatsReport>(`${scope.api}/stats${query({ ...statsQuery('24h'), group_by: 'endpoint' })}`),
  )
  const endpoints = useEndpoints(scope)
  const failing = (recent.data?.groups ?? [])
    .map(({ group, data }) => ({ group, ...sums(data), buckets: data }))
    .filter(({ failed, succeeded }) => failed > succeeded)
  const rows = [
    ...(off.data?.data ?? [])
      .filter(({ disabled_reason }) => disabled_reason !== 'manual')
      .map((endpoint) => ({
        id: endpoint.id,
        name: nameOf(endpoint),
        text: endpoint.disabled_detail ?? t('state.off'),
        isOff: true,
      })),
    ...failing
      .filter(({ group }) => endpoints.get(group)?.enabled === true)
      .map(({ group, failed, tries }) => ({
        id: group,
        name: nameOf(endpoints.get(group)!),
        text: t('overview.failing.text', { failed: count(failed), tries: count(tries) }),
        isOff: false,
      })),
  ]
  return (
    <Panel title={t('overview.failing')}>
      {off.data === undefined && recent.data === undefined ? (
        <Loading rows={2} />
      ) : rows.length === 0 ? (
        <p class="dim">{t('overview.failing.none')}</p>
      ) : (
        <ul class="rows rows-even">
          {rows.map(({ id, name, text, isOff }) => (
            <li key={id} class="row-line">
              <Badge tone={isOff ? 'bad' : 'warn'}>{t(isOff ? 'state.off' : 'overview.failing.now')}</Badge>
              <Link to={`${scope.path}/endpoints/${segment(id)}`}>{name}</Link>
              <span class="dim">{text}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function ByEndpoint({
  scope,
  base,
  period,
}: {
  readonly scope: Scope
  readonly base: string
  readonly period: Period
}) {
  const endpoints = useEndpoints(scope)
  return (
    <Groups
      title={t('overview.busiest')}
      base={base}
      by="endpoint"
      period={period}
      render={(id) => {
        const endpoint = endpoints.get(id)
        if (endpoint === undefined) return id
        return <Link to={`${scope.path}/endpoints/${segment(id)}`}>{nameOf(endpoint)}</Link>
      }}
    />
  )
}

function WorkspaceName({ id }: { readonly id: string }) {
  const { data } = useLoad(`workspace ${id}`, (signal) => ask<Workspace>(`/api/workspaces/${segment(id)}`, { signal }))
  return <Link to={`/w/${segment(id)}`}>{data?.name ?? id}</Link>
}

const maxGroups = 10

function Groups({
  title,
  base,
  by,
  period,
  render,
}: {
  readonly title: string
  readonly base: string
  readonly by: string
  readonly period: Period
  readonly render: (group: string) => preact.ComponentChildren
}) {
  const loaded = useLoad(
    `${base} ${by} ${period}`,
    () => askShared<StatsReport>(`${base}${query({ ...statsQuery(period), group_by: by })}`),
    { everyMs: refreshMs },
  )
  return (
    <Panel title={title}>
      <Shown of={loaded} rows={4}>
        {({ groups = [] }) => {
          const rows = groups.slice(0, maxGroups).map(({ group, data }) => ({ group, buckets: data, ...sums(data) }))
          if (rows.length === 0) return <p class="dim">{t('overview.nothing')}</p>
          return (
            <Table
              label={title}
              rows={rows}
              keyOf={({ group }) => group}
              columns={[
                {
                  title: t('filter.name'),
                  grows: true,
                  cell: ({ group }) => (group === '*' ? t('overview.others') : render(group)),
                },
                { title: t('overview.trend'), from: 'mid', cell: ({ buckets }) => <Sparkline buckets={buckets} /> },
                { title: t('overview.tries'), number: true, cell: ({ tries }) => count(tries) },
                { title: t('overview.rate'), number: true, cell: ({ rate }) => percent(rate) },
              ]}
            />
          )
        }}
      </Shown>
    </Panel>
  )
}
