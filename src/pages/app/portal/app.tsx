import type { ComponentChildren } from 'preact'

import { ask } from '../kit/ask.ts'
import { Frame, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { match, place } from '../kit/router.tsx'
import { settings } from '../kit/settings.ts'
import { Empty, Failed, Loading } from '../kit/states.tsx'
import { t } from '../texts.ts'
import { CatalogueView, useTypes } from '../views/catalogue.tsx'
import { DeliveriesView } from '../views/deliveries.tsx'
import { DeliveryView } from '../views/delivery.tsx'
import { EndpointView } from './endpoint.tsx'
import { EditEndpoint, Form } from './endpoint-form.tsx'
import { EndpointsView } from './endpoints.tsx'
import { scopeOf, type Session } from './session.ts'
import { VerifyView } from './verify.tsx'

export function App() {
  const loaded = useLoad('session', (signal) => ask<Session>('/api/v1/session', { signal }))
  const { name = t('portal.title'), logo } = settings.brand ?? {}
  const brand = (
    <>
      {logo !== undefined && <img src={logo} alt="" />}
      {name}
    </>
  )
  const { data, error, reload } = loaded
  if (data === undefined) {
    return (
      <main class="alone">
        <div class="brand">{brand}</div>
        <Panel>
          {error === undefined ? (
            <Loading rows={3} />
          ) : error.status === 401 ? (
            <Empty title={t('portal.ended')} hint={t('portal.ended.hint')} />
          ) : (
            <Failed error={error} retry={reload} />
          )}
        </Panel>
      </main>
    )
  }
  const items = [
    { to: '/', text: t('nav.endpoints') },
    { to: '/deliveries', text: t('nav.deliveries') },
    { to: '/catalogue', text: t('nav.catalogue') },
    { to: '/verify', text: t('portal.verify') },
  ]
  return (
    <Frame
      brand={brand}
      head={
        data.return_url !== null && (
          <p class="return">
            <a href={data.return_url} target="_top" rel="noreferrer">
              <span aria-hidden="true">←</span> {t('action.back')}
            </a>
          </p>
        )
      }
      nav={[{ items }]}
    >
      {data.read_only && <p class="note">{t('portal.readOnly')}</p>}
      <Current session={data} />
    </Frame>
  )
}

function Current({ session }: { readonly session: Session }): ComponentChildren {
  const { path } = place.value
  const scope = scopeOf(session)
  const types = useTypes(scope, false)
  const names = (types.data ?? []).map(({ event_type }) => event_type)
  if (path === '/' || path === '/endpoints') return <EndpointsView session={session} scope={scope} />
  if (path === '/deliveries') return <DeliveriesView scope={scope} types={names} />
  if (path === '/catalogue') return <CatalogueView scope={scope} hidden={false} hint={t('catalogue.none.portal')} />
  if (path === '/verify') return <VerifyView />
  if (path === '/endpoints/new') return <Form session={session} types={types.data ?? []} existing={null} />
  const edited = match('/endpoints/:id/edit', path)
  if (edited) return <EditEndpoint session={session} types={types.data ?? []} id={edited['id']!} />
  const shown = match('/endpoints/:id', path)
  if (shown)
    return <EndpointView key={path} session={session} scope={scope} types={types.data ?? []} id={shown['id']!} />
  const delivery = match('/deliveries/:event/:endpoint', path)
  if (delivery) {
    return (
      <DeliveryView
        key={path}
        scope={scope}
        event={delivery['event']!}
        endpoint={delivery['endpoint']!}
        eventLink={false}
      />
    )
  }
  return (
    <Panel>
      <Empty title={t('state.unknownPage')} hint={t('state.unknownPage.hint')} />
    </Panel>
  )
}
