import { useState } from 'preact/hooks'

import { ask, segment } from '../kit/ask.ts'
import { Time } from '../kit/figures.tsx'
import { Facts, Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import { say } from '../kit/toast.tsx'
import type { EventType } from '../kit/types.ts'
import { t } from '../texts.ts'
import { type Asked, EndpointDialogs } from '../views/endpoint-dialogs.tsx'
import { Latest, PausedNote, WhyOff } from '../views/endpoint-parts.tsx'
import { Patterns, State } from '../views/endpoint-row.tsx'
import { Activity, beside, useHealth } from '../views/health.tsx'
import { SecretPanel } from '../views/secret.tsx'
import type { PortalEndpoint, Session } from './session.ts'

interface Props {
  readonly session: Session
  readonly scope: Scope
  readonly types: readonly EventType[]
  readonly id: string
}

export function EndpointView({ session: { allow }, scope, types, id }: Props) {
  const path = `/api/v1/endpoints/${segment(id)}`
  const loaded = useLoad(path, (signal) => ask<PortalEndpoint>(path, { signal }))
  const health = useHealth(scope, id)
  const [asked, setAsked] = useState<Asked>(null)
  const endpoint = loaded.data
  const turn = async (enabled: boolean) => {
    try {
      await ask(path, { method: 'PATCH', body: { enabled } })
      loaded.reload()
      if (!enabled) return
      say(t('endpoint.turnedOn'))
      if (endpoint?.disabled_at == null || !allow.replay) return
      setAsked({ kind: 'recover', since: endpoint.disabled_at })
    } catch (cause) {
      say((cause as Error).message, 'bad')
    }
  }
  return (
    <>
      <Head
        title={endpoint === undefined ? t('endpoint.title') : nameOf(endpoint)}
        badge={endpoint && <State of={endpoint} />}
        trail={{ to: '/', text: t('nav.endpoints') }}
      >
        {allow.test && (
          <button type="button" onClick={() => setAsked({ kind: 'test' })}>
            {t('endpoint.test')}
          </button>
        )}
        {allow.replay && (
          <button type="button" onClick={() => setAsked({ kind: 'recover' })}>
            {t('endpoint.recover')}
          </button>
        )}
        {allow.edit && (
          <Link to={`/endpoints/${segment(id)}/edit`} class="button">
            {t('action.edit')}
          </Link>
        )}
      </Head>
      <Shown of={beside(loaded, health)}>
        {(each) => (
          <>
            {!each.enabled && <WhyOff of={each} turnOn={allow.edit ? () => void turn(true) : null} />}
            {each.enabled && each.paused && <PausedNote />}
            <Activity of={health} isPaused={each.paused} />
            <Latest scope={scope} endpoint={id} />
            <div class="columns">
              <Panel title={t('endpoint.settings')}>
                <Facts
                  of={[
                    [t('endpoint.url'), <span class="mono long">{each.url}</span>],
                    [
                      t('endpoint.events'),
                      each.events.length > 0 ? each.events.join('\n') : <Patterns of={each.events} />,
                    ],
                    ...(each.headers === null
                      ? []
                      : ([[t('endpoint.headers'), Object.keys(each.headers).join('\n')]] as const)),
                    [t('endpoint.created'), <Time at={each.created_at} />],
                    [t('endpoint.changed'), <Time at={each.updated_at} />],
                  ]}
                />
              </Panel>
              {(allow.secret || allow.rotate) && <SecretPanel scope={scope} endpoint={id} />}
            </div>
            <div class="actions">
              {allow.edit && each.enabled && (
                <button type="button" onClick={() => void turn(false)}>
                  {t('action.turnOff')}
                </button>
              )}
              {allow.delete && (
                <button type="button" class="danger" onClick={() => setAsked({ kind: 'delete' })}>
                  {t('action.delete')}
                </button>
              )}
            </div>
          </>
        )}
      </Shown>
      <EndpointDialogs
        asked={asked}
        scope={scope}
        endpoint={id}
        types={types}
        onClose={() => setAsked(null)}
        onDone={loaded.reload}
      />
    </>
  )
}
