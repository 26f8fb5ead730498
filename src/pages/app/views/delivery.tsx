import { ask, segment } from '../kit/ask.ts'
import { Answer, Status } from '../kit/badge.tsx'
import { Code } from '../kit/code.tsx'
import { Id } from '../kit/copy.tsx'
import { useAction } from '../kit/dialog.tsx'
import { Due, Time } from '../kit/figures.tsx'
import { Facts, Head, Panel } from '../kit/layout.tsx'
import { liveMs, useLoad } from '../kit/load.ts'
import { Link } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import { Timeline } from '../kit/timeline.tsx'
import { say } from '../kit/toast.tsx'
import type { DeliveryDetails } from '../kit/types.ts'
import { t } from '../texts.ts'
import { useEndpoints } from './deliveries.tsx'
import { useEventText } from './event-text.ts'

/** One delivery: what happened to one event at one endpoint. */
export function DeliveryView({
  scope,
  event,
  endpoint,
  eventLink,
}: {
  readonly scope: Scope
  readonly event: string
  readonly endpoint: string
  readonly eventLink: boolean
}) {
  const path = `${scope.api}/deliveries/${segment(event)}/${segment(endpoint)}`
  const loaded = useLoad(path, (signal) => ask<DeliveryDetails>(path, { signal }), { everyMs: liveMs })
  const endpoints = useEndpoints(scope)
  const data = useEventText(scope, event)
  const { busy, error, start } = useAction()
  const resend = () =>
    start(async () => {
      await ask(`${path}/retry`, { method: 'POST' })
      say(t('delivery.resent'))
      loaded.reload()
    })
  const target = endpoints.get(endpoint)

  return (
    <>
      <Head
        title={loaded.data?.event_type ?? t('delivery.title')}
        badge={loaded.data && <Status of={loaded.data.status} />}
        trail={{ to: `${scope.path}/deliveries`, text: t('nav.deliveries') }}
      >
        {scope.may.replay && (
          <button type="button" onClick={resend} disabled={busy || loaded.data === undefined}>
            {t('action.resend')}
          </button>
        )}
      </Head>
      {error && (
        <p class="note note-bad" role="alert">
          {error.message}
        </p>
      )}
      <Shown of={loaded}>
        {(delivery) => (
          <>
            <Panel>
              <Facts
                of={[
                  [
                    t('delivery.endpoint'),
                    target === undefined ? (
                      endpoint
                    ) : (
                      <Link to={`${scope.path}/endpoints/${segment(endpoint)}`}>{nameOf(target)}</Link>
                    ),
                  ],
                  [
                    t('filter.id'),
                    eventLink ? (
                      <Link to={`${scope.path}/events/${segment(event)}`}>
                        <Id of={event} />
                      </Link>
                    ) : (
                      <Id of={event} />
                    ),
                  ],
                  [t('delivery.time'), <Time at={delivery.created_at} />],
                  [
                    t('delivery.answer'),
                    <Answer
                      status={delivery.last?.response_status ?? null}
                      error={delivery.last?.error_code ?? null}
                    />,
                  ],
                  [t('delivery.tries'), delivery.tries],
                  delivery.next_attempt_at === null
                    ? [t('delivery.last'), <Time at={delivery.last_attempted_at} />]
                    : [t('delivery.next'), <Due at={delivery.next_attempt_at} />],
                  ...(delivery.unique_id === null
                    ? []
                    : ([[t('event.uniqueId'), <Id of={delivery.unique_id} />]] as const)),
                ]}
              />
            </Panel>
            <Panel title={t('delivery.timeline')}>
              <Timeline scope={scope} attempts={delivery.attempts} />
            </Panel>
            {data !== undefined && (
              <Panel title={t('delivery.eventData')}>
                <Code text={data} label={t('event.data')} />
              </Panel>
            )}
          </>
        )}
      </Shown>
    </>
  )
}
