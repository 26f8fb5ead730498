import { Listed } from '../kit/listed.tsx'
import { ask, query, segment } from '../kit/ask.ts'
import { Sparkline, sums } from '../kit/chart.tsx'
import { percent } from '../kit/figures.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../kit/filters.tsx'
import { Head } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link, parameters } from '../kit/router.tsx'
import { nameOf, type Scope, urlOf } from '../kit/scope.ts'
import { cursorOfPlace, type Page } from '../kit/table.tsx'
import type { Endpoint } from '../kit/types.ts'
import { t } from '../texts.ts'
import { Patterns, State, useActivity } from '../views/endpoint-row.tsx'

const refreshMs = 10_000

export function EndpointsView({ scope }: { readonly scope: Scope }) {
  const search = parameters.value
  const path = `${scope.api}/endpoints${query({ name: search.get('name'), enabled: search.get('enabled'), ...cursorOfPlace(), limit: 25 })}`
  const loaded = useLoad(path, (signal) => ask<Page<Endpoint>>(path, { signal }), { everyMs: refreshMs })
  const activity = useActivity(scope)
  const rateOf = (id: string) => sums(activity.get(id) ?? []).rate
  const isFiltered = search.has('name') || search.has('enabled')

  return (
    <>
      <Head title={t('nav.endpoints')}>
        <Link to={`${scope.path}/endpoints/new`} class="button primary">
          {t('endpoint.new')}
        </Link>
      </Head>
      <Filters names={['name', 'enabled']}>
        <TextFilter name="name" label={t('workspace.search')} />
        <ChoiceFilter
          name="enabled"
          label={t('filter.status')}
          options={[
            ['true', t('state.on')],
            ['false', t('state.off')],
          ]}
        />
      </Filters>
      <Listed
        of={loaded}
        bones={8}
        none={{
          title: t(isFiltered ? 'endpoint.noMatch' : 'endpoint.none'),
          hint: t(isFiltered ? 'delivery.noMatch.hint' : 'endpoint.none.hint'),
        }}
        label={t('nav.endpoints')}
        to={({ id }) => `${scope.path}/endpoints/${segment(id)}`}
        columns={[
          { title: t('filter.status'), cell: (row) => <State of={row} /> },
          {
            title: t('endpoint.title'),
            grows: true,
            cell: (row) => (
              <>
                <Link to={`${scope.path}/endpoints/${segment(row.id)}`}>{nameOf(row)}</Link>
                <span class="under">{urlOf(row)}</span>
              </>
            ),
          },
          { title: t('endpoint.events'), from: 'wide', cell: ({ events }) => <Patterns of={events} /> },
          {
            title: t('overview.trend24h'),
            from: 'mid',
            cell: ({ id }) => <Sparkline buckets={activity.get(id) ?? []} />,
          },
          { title: t('overview.rate'), number: true, cell: ({ id }) => percent(rateOf(id)) },
        ]}
      />
    </>
  )
}
