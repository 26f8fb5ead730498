import { useState } from 'preact/hooks'

import { ask, query, segment } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { Code } from '../kit/code.tsx'
import { Id } from '../kit/copy.tsx'
import { Confirm } from '../kit/dialog.tsx'
import { Time } from '../kit/figures.tsx'
import { Facts, Head, Panel } from '../kit/layout.tsx'
import { liveMs, useLoad } from '../kit/load.ts'
import { go, Link } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { Empty, Shown } from '../kit/states.tsx'
import { type Page, Table } from '../kit/table.tsx'
import type { Delivery, Event } from '../kit/types.ts'
import { t } from '../texts.ts'
import { deliveryColumns, deliveryKey, deliveryPath, useEndpoints } from '../views/deliveries.tsx'
import { useEventText } from '../views/event-text.ts'

export function EventView({ scope, id }: { readonly scope: Scope; readonly id: string }) {
  const path = `${scope.api}/events/${segment(id)}`
  const loaded = useLoad(path, (signal) => ask<Event>(path, { signal }))
  const data = useEventText(scope, id)
  const [erasing, setErasing] = useState(false)
  return (
    <>
      <Head
        title={loaded.data?.event_type ?? t('event.title')}
        trail={{ to: `${scope.path}/events`, text: t('nav.events') }}
      >
        {loaded.data && (
          <button type="button" class="danger" onClick={() => setErasing(true)}>
            {t('event.erase')}
          </button>
        )}
      </Head>
      <Shown of={loaded}>
        {(event) => (
          <>
            <Panel>
              <Facts
                of={[
                  [t('event.id'), <Id of={event.id} />],
                  [t('event.uniqueId'), event.unique_id === null ? t('state.none') : <Id of={event.unique_id} />],
                  [t('event.time'), <Time at={event.created_at} />],
                ]}
              />
              {data !== undefined && <Code text={data} label={t('event.data')} />}
            </Panel>
            <Deliveries scope={scope} event={id} />
            <Explain scope={scope} event={id} />
          </>
        )}
      </Shown>
      {erasing && (
        <Confirm
          title={t('event.erase.title')}
          text={t('event.erase.text')}
          action={t('event.erase')}
          run={async () => {
            await ask(path, { method: 'DELETE' })
            go(`${scope.path}/events`)
          }}
          onClose={() => setErasing(false)}
        />
      )}
    </>
  )
}

function Deliveries({ scope, event }: { readonly scope: Scope; readonly event: string }) {
  const path = `${scope.api}/deliveries${query({ event_id: event, limit: 100 })}`
  const loaded = useLoad(path, (signal) => ask<Page<Delivery>>(path, { signal }), { everyMs: liveMs })
  const endpoints = useEndpoints(scope)
  return (
    <Panel title={t('event.deliveries')}>
      <Shown of={loaded} rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t('event.deliveries.none')} />
          ) : (
            <Table
              label={t('event.deliveries')}
              columns={deliveryColumns(scope, endpoints, 'event')}
              rows={data}
              keyOf={deliveryKey}
              to={(row) => deliveryPath(scope, row)}
            />
          )
        }
      </Shown>
    </Panel>
  )
}

interface Explanation {
  readonly endpoint_id: string
  readonly endpoint_name: string | null
  readonly matched: boolean
  readonly reason: string
}

const endpointsOfPage = 100

/** For each endpoint whether it gets the event, and why. */
function Explain({ scope, event }: { readonly scope: Scope; readonly event: string }) {
  const path = `${scope.api}/events/${segment(event)}/explain?limit=${endpointsOfPage}`
  const loaded = useLoad(path, (signal) => ask<readonly Explanation[]>(path, { signal }))
  return (
    <Panel title={t('event.explain')}>
      <Shown of={loaded} rows={3}>
        {(all) =>
          all.length === 0 ? (
            <p class="dim">{t('endpoint.none')}</p>
          ) : (
            <ul class="rows rows-even">
              {all.map(({ endpoint_id, endpoint_name, matched, reason }) => (
                <li key={endpoint_id} class="row-line">
                  <Badge tone={matched ? 'good' : 'dim'}>
                    {t(matched ? 'event.explain.matched' : 'event.explain.unmatched')}
                  </Badge>
                  <Link to={`${scope.path}/endpoints/${segment(endpoint_id)}`}>{endpoint_name ?? endpoint_id}</Link>
                  <span class="dim">{reason}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Panel>
  )
}
