import { useState } from 'preact/hooks'

import { ask, query, segment } from '../kit/ask.ts'
import { Badge } from '../kit/badge.tsx'
import { Id } from '../kit/copy.tsx'
import { duration, Time } from '../kit/figures.tsx'
import { Facts, Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import type { Page } from '../kit/table.tsx'
import { say } from '../kit/toast.tsx'
import type { Endpoint, Plugin } from '../kit/types.ts'
import { t } from '../texts.ts'
import { useTypes } from '../views/catalogue.tsx'
import { Activity, beside, useHealth } from '../views/health.tsx'
import { SecretPanel } from '../views/secret.tsx'
import { type Asked, EndpointDialogs } from '../views/endpoint-dialogs.tsx'
import { Latest, PausedNote, WhyOff } from '../views/endpoint-parts.tsx'
import { Patterns, State } from '../views/endpoint-row.tsx'

export function EndpointView({ scope, id }: { readonly scope: Scope; readonly id: string }) {
  const path = `${scope.api}/endpoints/${segment(id)}`
  const loaded = useLoad(path, (signal) => ask<Endpoint>(path, { signal }))
  const health = useHealth(scope, id)
  const [asked, setAsked] = useState<Asked>(null)
  const types = useTypes(health.isKnown ? scope : null, true) // for the dialogs
  const own = `${scope.path}/endpoints/${segment(id)}`
  const endpoint = loaded.data
  /** Answers whether the change was made. */
  const change = async (body: object): Promise<boolean> => {
    try {
      await ask<Endpoint>(path, { method: 'PATCH', body })
      loaded.reload()
      return true
    } catch (cause) {
      say((cause as Error).message, 'bad')
      return false
    }
  }
  const turnOn = async ({ disabled_at }: Endpoint) => {
    if (!(await change({ enabled: true }))) return
    say(t('endpoint.turnedOn'))
    if (disabled_at === null) return
    setAsked({ kind: 'recover', since: disabled_at })
  }

  return (
    <>
      <Head
        title={endpoint === undefined ? t('endpoint.title') : nameOf(endpoint)}
        badge={endpoint && <State of={endpoint} />}
        trail={{ to: `${scope.path}/endpoints`, text: t('nav.endpoints') }}
      >
        {endpoint && (
          <>
            <button type="button" onClick={() => setAsked({ kind: 'test' })}>
              {t('endpoint.test')}
            </button>
            <button type="button" onClick={() => setAsked({ kind: 'recover' })}>
              {t('endpoint.recover')}
            </button>
            {endpoint.enabled && (
              <button type="button" onClick={() => void change({ paused: !endpoint.paused })}>
                {t(endpoint.paused ? 'action.unpause' : 'action.pause')}
              </button>
            )}
            <Link to={`${own}/edit`} class="button">
              {t('action.edit')}
            </Link>
          </>
        )}
      </Head>
      <Shown of={beside(loaded, health)}>
        {(each) => (
          <>
            {!each.enabled && <WhyOff of={each} turnOn={() => void turnOn(each)} />}
            {each.enabled && each.paused && <PausedNote />}
            <Activity of={health} isPaused={each.paused} />
            <Latest scope={scope} endpoint={id} />
            <div class="columns">
              <Settings of={each} />
              <div>
                <SecretPanel scope={scope} endpoint={id} />
                <Plugins scope={scope} endpoint={id} />
              </div>
            </div>
            <div class="actions">
              {each.enabled && (
                <button type="button" onClick={() => void change({ enabled: false })}>
                  {t('action.turnOff')}
                </button>
              )}
              <button type="button" class="danger" onClick={() => setAsked({ kind: 'delete' })}>
                {t('action.delete')}
              </button>
            </div>
          </>
        )}
      </Shown>
      <EndpointDialogs
        asked={asked}
        scope={scope}
        endpoint={id}
        types={types.data ?? []}
        onClose={() => setAsked(null)}
        onDone={loaded.reload}
      />
    </>
  )
}

function Settings({ of }: { readonly of: Endpoint }) {
  const { request, retry, rate_limit, metadata } = of
  const headers = Object.keys(request.headers ?? {})
  return (
    <Panel title={t('endpoint.settings')}>
      <Facts
        of={[
          [t('endpoint.url'), <span class="mono long">{`${request.method} ${request.url}`}</span>],
          [t('endpoint.id'), <Id of={of.id} />],
          [t('endpoint.events'), of.events.length > 0 ? of.events.join('\n') : <Patterns of={of.events} />],
          [
            t('endpoint.retry'),
            retry.config.attempts
              .map((seconds) => (seconds === 0 ? t('endpoint.retry.now') : duration(seconds * 1000)))
              .join(', '),
          ],
          [t('endpoint.timeout'), request.timeout === 0 ? t('endpoint.timeout.default') : duration(request.timeout)],
          [
            t('endpoint.rate'),
            rate_limit === null
              ? t('state.none')
              : t('endpoint.rate.text', { quota: rate_limit.quota, period: duration(rate_limit.period * 1000) }),
          ],
          [t('endpoint.headers'), headers.length === 0 ? t('state.none') : headers.join('\n')],
          ...(of.description ? ([[t('endpoint.description'), of.description]] as const) : []),
          ...Object.entries(metadata).map(([name, value]) => [name, value] as const),
          [t('endpoint.created'), <Time at={of.created_at} />],
          [t('endpoint.changed'), <Time at={of.updated_at} />],
        ]}
      />
    </Panel>
  )
}

function Plugins({ scope, endpoint }: { readonly scope: Scope; readonly endpoint: string }) {
  const loaded = useLoad(`plugins ${endpoint}`, (signal) =>
    ask<Page<Plugin>>(`${scope.api}/plugins${query({ endpoint_id: endpoint, limit: 100 })}`, { signal }),
  )
  return (
    <Panel
      title={t('endpoint.plugins')}
      actions={
        <Link to={`${scope.path}/plugins/new${query({ endpoint_id: endpoint })}`} class="button">
          {t('plugin.new')}
        </Link>
      }
    >
      <Shown of={loaded} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="dim">{t('plugin.none')}</p>
          ) : (
            <ul class="rows">
              {data.map(({ id, name, enabled }) => (
                <li key={id} class="row-line">
                  <Link to={`${scope.path}/plugins/${segment(id)}`}>{name}</Link>
                  {!enabled && <Badge tone="dim">{t('state.off')}</Badge>}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Panel>
  )
}
