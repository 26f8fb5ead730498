import { useEffect, useState } from 'preact/hooks'

import { ask, askShared, query, segment } from '../kit/ask.ts'
import { Answer, Status } from '../kit/badge.tsx'
import { Confirm } from '../kit/dialog.tsx'
import { count, Due, duration, Time } from '../kit/figures.tsx'
import { ChoiceFilter, Filters, RangeFilter, since, TextFilter } from '../kit/filters.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { liveMs, useLoad } from '../kit/load.ts'
import { Link, parameters } from '../kit/router.tsx'
import { type AnyEndpoint, nameOf, type Scope } from '../kit/scope.ts'
import { Empty, Shown } from '../kit/states.tsx'
import { type Column, cursorOfPlace, type Page, Pager, Table } from '../kit/table.tsx'
import { say } from '../kit/toast.tsx'
import { type Delivery, deliveryStatuses } from '../kit/types.ts'
import { t, tOf } from '../texts.ts'
import { counted, replayed } from './replay.ts'

const filterNames = ['status', 'event_type', 'endpoint_id', 'event_id', 'response_status', 'range']

/** The endpoints of a scope by id, for their names; none until a scope is given. */
export function useEndpoints(scope: Scope | null): ReadonlyMap<string, AnyEndpoint> {
  const { data } = useLoad(scope && `names ${scope.api}`, () => endpointsOf(scope!))
  return data ?? noEndpoints
}

const noEndpoints: ReadonlyMap<string, AnyEndpoint> = new Map()

/** Asks for the endpoints of a scope, by id. */
async function endpointsOf(scope: Scope): Promise<ReadonlyMap<string, AnyEndpoint>> {
  const { data } = await askShared<Page<AnyEndpoint>>(`${scope.api}/endpoints?limit=1000`)
  return new Map(data.map((endpoint) => [endpoint.id, endpoint]))
}

export function deliveryPath(
  scope: Scope,
  { event_id, endpoint_id }: Pick<Delivery, 'event_id' | 'endpoint_id'>,
): string {
  return `${scope.path}/deliveries/${segment(event_id)}/${segment(endpoint_id)}`
}

/** The columns of a list of deliveries. `without`: what the list around says already. */
export function deliveryColumns(
  scope: Scope,
  endpoints: ReadonlyMap<string, AnyEndpoint>,
  without: 'endpoint' | 'event' | null = null,
): readonly Column<Delivery>[] {
  const columns: readonly (Column<Delivery> | false)[] = [
    { title: t('delivery.status'), cell: ({ status }) => <Status of={status} /> },
    without !== 'event' && {
      title: t('delivery.event'),
      grows: true,
      cell: (row) => (
        <>
          <Link to={deliveryPath(scope, row)}>{row.event_type}</Link>
          {without === null && <span class="under">{endpointName(endpoints, row.endpoint_id)}</span>}
        </>
      ),
    },
    without === 'event' && {
      title: t('delivery.endpoint'),
      grows: true,
      cell: (row) => <Link to={deliveryPath(scope, row)}>{endpointName(endpoints, row.endpoint_id)}</Link>,
    },
    {
      title: t('delivery.answer'),
      from: 'mid',
      cell: ({ last }) => <Answer status={last?.response_status ?? null} error={last?.error_code ?? null} />,
    },
    { title: t('delivery.tries'), from: 'mid', number: true, cell: ({ tries }) => count(tries) },
    { title: t('delivery.latency'), from: 'wide', number: true, cell: ({ last }) => duration(last?.latency ?? null) },
    { title: t('delivery.next'), from: 'wide', cell: ({ next_attempt_at }) => <Due at={next_attempt_at} /> },
    without === 'event'
      ? { title: t('delivery.last'), cell: ({ last_attempted_at }) => <Time at={last_attempted_at} /> }
      : { title: t('delivery.time'), cell: ({ created_at }) => <Time at={created_at} /> },
  ]
  return columns.filter((column) => column !== false)
}

function endpointName(endpoints: ReadonlyMap<string, AnyEndpoint>, id: string): string {
  const endpoint = endpoints.get(id)
  return endpoint === undefined ? id : nameOf(endpoint)
}

/** A delivery's name among others: both ids. */
export function deliveryKey({ event_id, endpoint_id }: Delivery): string {
  return `${event_id} ${endpoint_id}`
}

export function DeliveriesView({ scope, types }: { readonly scope: Scope; readonly types: readonly string[] }) {
  const endpoints = useEndpoints(scope)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [asked, setAsked] = useState(false)
  const search = parameters.value
  const given = Object.fromEntries(filterNames.slice(0, 5).map((name) => [name, search.get(name)]))
  const path = `${scope.api}/deliveries${query({ ...given, 'created_at[gte]': since(), ...cursorOfPlace(), limit: 25 })}`
  const isFirst = !search.has('after') && !search.has('before')
  const loaded = useLoad(path, (signal) => ask<Page<Delivery>>(path, { signal }), { everyMs: isFirst ? liveMs : 0 })
  const isFiltered = filterNames.some((name) => search.has(name))

  const resend = async () => {
    const keys = [...selected].map((key) => key.split(' '))
    for (const [event = '', endpoint = ''] of keys) {
      await ask(`${scope.api}/deliveries/${segment(event)}/${segment(endpoint)}/retry`, { method: 'POST' })
    }
    setSelected(new Set())
    say(t('delivery.resentMany', { n: count(keys.length) }))
    loaded.reload()
  }

  return (
    <>
      <Head title={t('nav.deliveries')}>
        {scope.may.replay && selected.size > 0 && (
          <>
            <span class="dim">{t('table.selected', { n: selected.size })}</span>
            <button type="button" onClick={() => void resend().catch((cause: Error) => say(cause.message, 'bad'))}>
              {t('delivery.resendSelected')}
            </button>
          </>
        )}
        {scope.may.replay && !search.has('response_status') && (
          <button type="button" onClick={() => setAsked(true)}>
            {t('delivery.resendAll')}
          </button>
        )}
      </Head>
      <Filters names={filterNames}>
        <ChoiceFilter
          name="status"
          label={t('filter.status')}
          options={deliveryStatuses.map((status) => [status, tOf('status', status)])}
        />
        <TextFilter name="event_type" label={t('filter.type')} options={types} />
        <ChoiceFilter
          name="endpoint_id"
          label={t('filter.endpoint')}
          options={[...endpoints.values()].map((endpoint) => [endpoint.id, nameOf(endpoint)])}
        />
        <TextFilter name="response_status" label={t('delivery.answer')} pattern="[1-5][0-9]{2}" />
        <RangeFilter />
        <TextFilter name="event_id" label={t('filter.id')} />
      </Filters>
      <Panel>
        <Shown of={loaded} rows={10}>
          {(page) =>
            page.data.length === 0 ? (
              <Empty
                title={t(isFiltered ? 'delivery.noMatch' : 'delivery.none')}
                hint={t(isFiltered ? 'delivery.noMatch.hint' : 'delivery.none.hint')}
              />
            ) : (
              <>
                <Table
                  label={t('nav.deliveries')}
                  columns={deliveryColumns(scope, endpoints)}
                  rows={page.data}
                  keyOf={deliveryKey}
                  to={(row) => deliveryPath(scope, row)}
                  nameOf={({ event_type, event_id }) => `${event_type} ${event_id}`}
                  {...(scope.may.replay && { selected, onSelect: setSelected })}
                />
                <Pager next={page.next} prev={page.prev} />
              </>
            )
          }
        </Shown>
      </Panel>
      {asked && <ResendAll scope={scope} onClose={() => setAsked(false)} onDone={loaded.reload} />}
    </>
  )
}

/** Asks the server how many failed deliveries meet the filters, and sends them once more. */
function ResendAll({
  scope,
  onClose,
  onDone,
}: {
  readonly scope: Scope
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const search = parameters.value
  const status = search.get('status')
  const from = since()
  const body = {
    ...(search.has('event_type') && { event_types: [search.get('event_type')] }),
    ...(search.has('endpoint_id') && { endpoint_id: search.get('endpoint_id') }),
    ...((status === 'FAILED' || status === 'CANCELED') && { status }),
    ...(from !== null && { created_at: { gte: from } }),
  }
  const path = `${scope.api}/events/replay`
  const { data, error } = useLoad('count', (signal) => counted(path, body, signal))
  useEffect(() => {
    if (!error) return
    say(error.message, 'bad')
    onClose()
  }, [error])
  return (
    <Confirm
      title={t('delivery.resendAll')}
      text={
        data === undefined
          ? t('endpoint.recover.counting')
          : data.matched === 0
            ? t('delivery.resendAll.none')
            : t('delivery.resendAll.text', { n: count(data.matched) })
      }
      action={t('action.resend')}
      danger={false}
      disabled={(data?.matched ?? 0) === 0}
      run={async () => {
        const made = await replayed(path, body)
        say(t('delivery.resentMany', { n: count(made) }))
        onDone()
      }}
      onClose={onClose}
    />
  )
}
