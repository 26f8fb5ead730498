import { ask, query } from '../kit/ask.ts'
import { Time } from '../kit/figures.tsx'
import { Panel } from '../kit/layout.tsx'
import { liveMs, useLoad } from '../kit/load.ts'
import { Link } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { Empty, Shown } from '../kit/states.tsx'
import { type Page, Table } from '../kit/table.tsx'
import type { Delivery, Endpoint } from '../kit/types.ts'
import { t } from '../texts.ts'
import { deliveryColumns, deliveryKey, deliveryPath } from './deliveries.tsx'

export function WhyOff({
  of: { disabled_at, disabled_detail },
  turnOn,
}: {
  readonly of: Pick<Endpoint, 'disabled_at' | 'disabled_detail'>
  readonly turnOn: (() => void) | null
}) {
  return (
    <div class="note note-bad" role="status">
      <b>{t('endpoint.off')}</b>
      {disabled_detail ?? t('endpoint.off.manual')}{' '}
      {disabled_at !== null && (
        <span>
          {t('endpoint.since')}: <Time at={disabled_at} />
        </span>
      )}
      {turnOn && (
        <div class="actions">
          <button type="button" class="primary" onClick={turnOn}>
            {t('action.turnOn')}
          </button>
        </div>
      )}
    </div>
  )
}

/** What a paused endpoint means. */
export function PausedNote() {
  return (
    <p class="note note-warn">
      <b>{t('endpoint.pausedNow')}</b>
      {t('endpoint.pausedNow.hint')}
    </p>
  )
}

/** The newest deliveries of an endpoint. */
export function Latest({ scope, endpoint }: { readonly scope: Scope; readonly endpoint: string }) {
  const path = `${scope.api}/deliveries${query({ endpoint_id: endpoint, limit: 10 })}`
  const loaded = useLoad(path, (signal) => ask<Page<Delivery>>(path, { signal }), { everyMs: liveMs })
  return (
    <Panel
      title={t('endpoint.deliveries')}
      actions={
        <Link to={`${scope.path}/deliveries${query({ endpoint_id: endpoint })}`}>{t('endpoint.deliveries.all')}</Link>
      }
    >
      <Shown of={loaded} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t('delivery.none')} hint={t('delivery.none.hint')} />
          ) : (
            <Table
              label={t('endpoint.deliveries')}
              columns={deliveryColumns(scope, new Map(), 'endpoint')}
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
