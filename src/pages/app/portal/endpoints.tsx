import { Listed } from '../kit/listed.tsx'
import { ask, query, segment } from '../kit/ask.ts'
import { Sparkline, sums } from '../kit/chart.tsx'
import { percent } from '../kit/figures.tsx'
import { Head } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { cursorOfPlace, type Page } from '../kit/table.tsx'
import { t } from '../texts.ts'
import { Patterns, State, useActivity } from '../views/endpoint-row.tsx'
import type { PortalEndpoint, Session } from './session.ts'

const refreshMs = 10_000

export function EndpointsView({ session, scope }: { readonly session: Session; readonly scope: Scope }) {
  const path = `/api/v1/endpoints${query({ ...cursorOfPlace(), limit: 25 })}`
  const loaded = useLoad(path, (signal) => ask<Page<PortalEndpoint>>(path, { signal }), { everyMs: refreshMs })
  const activity = useActivity(scope)
  const { endpoints: most } = session.limits
  const isFull = most !== null && (loaded.data?.data.length ?? 0) >= most
  return (
    <>
      <Head title={t('nav.endpoints')}>
        {session.allow.create && !isFull && (
          <Link to="/endpoints/new" class="button primary">
            {t('endpoint.new')}
          </Link>
        )}
        {isFull && <span class="dim">{t('endpoint.most', { n: most })}</span>}
      </Head>
      <Listed
        of={loaded}
        none={{ title: t('endpoint.none'), hint: t('endpoint.none.hint') }}
        label={t('nav.endpoints')}
        to={({ id }) => `/endpoints/${segment(id)}`}
        columns={[
          { title: t('filter.status'), cell: (row) => <State of={row} /> },
          {
            title: t('endpoint.title'),
            grows: true,
            cell: (row) => (
              <>
                <Link to={`/endpoints/${segment(row.id)}`}>{nameOf(row)}</Link>
                {row.description !== null && <span class="under">{row.url}</span>}
              </>
            ),
          },
          { title: t('endpoint.events'), from: 'wide', cell: ({ events }) => <Patterns of={events} /> },
          {
            title: t('overview.trend24h'),
            from: 'mid',
            cell: ({ id }) => <Sparkline buckets={activity.get(id) ?? []} />,
          },
          {
            title: t('overview.rate'),
            number: true,
            cell: ({ id }) => percent(sums(activity.get(id) ?? []).rate),
          },
        ]}
      />
    </>
  )
}
