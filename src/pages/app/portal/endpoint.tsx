import { useState } from 'preact/hooks'

import { ask, segment } from '../kit/ask.ts'
import { Confirm } from '../kit/dialog.tsx'
import { Time } from '../kit/figures.tsx'
import { Facts, Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { go, Link } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import { say } from '../kit/toast.tsx'
import type { EventType } from '../kit/types.ts'
import { t } from '../texts.ts'
import { Latest, WhyOff } from '../views/endpoint-parts.tsx'
import { Patterns, State } from '../views/endpoint-row.tsx'
import { Activity } from '../views/health.tsx'
import { Recover } from '../views/recover.tsx'
import { SecretPanel } from '../views/secret.tsx'
import { TestEvent } from '../views/test-event.tsx'
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
  const [asked, setAsked] = useState<'delete' | 'recover' | 'test' | null>(null)
  const [missedSince, setMissedSince] = useState<number>()
  const endpoint = loaded.data
  const close = () => setAsked(null)
  const turn = async (enabled: boolean) => {
    try {
      await ask(path, { method: 'PATCH', body: { enabled } })
      loaded.reload()
      if (!enabled) return
      say(t('endpoint.turnedOn'))
      if (endpoint?.disabled_at == null || !allow.replay) return
      setMissedSince(endpoint.disabled_at)
      setAsked('recover')
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
          <button type="button" onClick={() => setAsked('test')}>
            {t('endpoint.test')}
          </button>
        )}
        {allow.replay && (
          <button
            type="button"
            onClick={() => {
              setMissedSince(undefined)
              setAsked('recover')
            }}
          >
            {t('endpoint.recover')}
          </button>
        )}
        {allow.edit && (
          <Link to={`/endpoints/${segment(id)}/edit`} class="button">
            {t('action.edit')}
          </Link>
        )}
      </Head>
      <Shown of={loaded}>
        {(each) => (
          <>
            {!each.enabled && <WhyOff of={each} turnOn={allow.edit ? () => void turn(true) : null} />}
            {each.enabled && each.paused && (
              <p class="note note-warn">
                <b>{t('endpoint.pausedNow')}</b>
                {t('endpoint.pausedNow.hint')}
              </p>
            )}
            <Activity scope={scope} endpoint={id} />
            <Latest scope={scope} endpoint={id} />
            <div class="columns">
              <Panel title={t('endpoint.settings')}>
                <Facts
                  of={[
                    [t('endpoint.url'), <span class="mono">{each.url}</span>],
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
                <button type="button" class="danger" onClick={() => setAsked('delete')}>
                  {t('action.delete')}
                </button>
              )}
            </div>
          </>
        )}
      </Shown>
      {asked === 'test' && (
        <TestEvent scope={scope} endpoint={id} types={types} onClose={close} onDone={loaded.reload} />
      )}
      {asked === 'recover' && (
        <Recover
          scope={scope}
          endpoint={id}
          {...(missedSince !== undefined && { missedSince })}
          onClose={close}
          onDone={loaded.reload}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          title={t('endpoint.delete.title')}
          text={t('endpoint.delete.text')}
          action={t('action.delete')}
          run={async () => {
            await ask(path, { method: 'DELETE' })
            go('/')
          }}
          onClose={close}
        />
      )}
    </>
  )
}
