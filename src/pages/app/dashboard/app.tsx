import type { ComponentChildren } from 'preact'

import { ask, segment } from '../kit/ask.ts'
import { Frame, type NavItem, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { match, place } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { Empty } from '../kit/states.tsx'
import type { Workspace } from '../kit/types.ts'
import { t } from '../texts.ts'
import { CatalogueView, useTypes } from '../views/catalogue.tsx'
import { DeliveriesView } from '../views/deliveries.tsx'
import { DeliveryView } from '../views/delivery.tsx'
import { ConfigurationView } from './configuration.tsx'
import { EndpointForm, NewEndpoint } from './endpoint-form.tsx'
import { EndpointView } from './endpoint.tsx'
import { EndpointsView } from './endpoints.tsx'
import { EventView } from './event.tsx'
import { EventsView } from './events.tsx'
import { OverviewView } from './overview.tsx'
import { PluginForm, PluginsView } from './plugins.tsx'
import { scopeOf } from './scope.ts'
import { SourceForm } from './source-form.tsx'
import { SourceView, SourcesView } from './sources.tsx'
import { SystemView } from './system.tsx'
import { WorkspacesView } from './workspaces.tsx'

type Parts = Readonly<Record<string, string>>
type View = (scope: Scope, parts: Parts) => ComponentChildren

/** The views of a workspace by their paths behind `/w/:ws`. Parts of a path are keys, so that another row is another view. */
const views: Readonly<Record<string, View>> = {
  '': (scope) => <OverviewView scope={scope} />,
  '/deliveries': (scope) => <Deliveries scope={scope} />,
  '/deliveries/:event/:endpoint': (scope, { event = '', endpoint = '' }) => (
    <DeliveryView scope={scope} event={event} endpoint={endpoint} eventLink />
  ),
  '/endpoints': (scope) => <EndpointsView scope={scope} />,
  '/endpoints/new': (scope) => <NewEndpoint scope={scope} />,
  '/endpoints/:id': (scope, { id = '' }) => <EndpointView scope={scope} id={id} />,
  '/endpoints/:id/edit': (scope, { id = '' }) => <EndpointForm scope={scope} id={id} />,
  '/events': (scope) => <EventsView scope={scope} />,
  '/events/:id': (scope, { id = '' }) => <EventView scope={scope} id={id} />,
  '/sources': (scope) => <SourcesView scope={scope} />,
  '/sources/new': (scope) => <SourceForm scope={scope} id={null} />,
  '/sources/:id': (scope, { id = '' }) => <SourceView scope={scope} id={id} />,
  '/sources/:id/edit': (scope, { id = '' }) => <SourceForm scope={scope} id={id} />,
  '/plugins': (scope) => <PluginsView scope={scope} />,
  '/plugins/new': (scope) => <PluginForm scope={scope} id={null} />,
  '/plugins/:id': (scope, { id = '' }) => <PluginForm scope={scope} id={id} />,
  '/catalogue': (scope) => <CatalogueView scope={scope} hidden hint={t('catalogue.none.hint')} />,
  '/configuration': (scope) => <ConfigurationView scope={scope} />,
}

function Deliveries({ scope }: { readonly scope: Scope }) {
  const types = useTypes(scope, true)
  return <DeliveriesView scope={scope} types={(types.data ?? []).map(({ event_type }) => event_type)} />
}

/** The workspace that the address names, else the workspace that was shown last. */
let last = 'default'

function workspaceOf(path: string): string {
  const [, first, name] = path.split('/')
  if (first === 'w' && name !== undefined && name !== '') last = decodeURIComponent(name)
  return last
}

export function App() {
  const { path } = place.value
  const workspace = workspaceOf(path)
  const { data } = useLoad(`workspace ${workspace}`, (signal) =>
    ask<Workspace>(`/api/workspaces/${segment(workspace)}`, { signal }),
  )
  const own = `/w/${segment(workspace)}`
  const item = (to: string, text: string): NavItem => ({ to, text })
  const ofWorkspace = [
    item(own, t('nav.overview')),
    item(`${own}/deliveries`, t('nav.deliveries')),
    item(`${own}/endpoints`, t('nav.endpoints')),
    item(`${own}/events`, t('nav.events')),
    item(`${own}/sources`, t('nav.sources')),
    item(`${own}/plugins`, t('nav.plugins')),
    item(`${own}/catalogue`, t('nav.catalogue')),
    item(`${own}/configuration`, t('nav.configuration')),
  ]
  const all = [
    item('/', t('nav.allWorkspaces')),
    item('/workspaces', t('nav.workspaces')),
    item('/system', t('nav.system')),
  ]
  return (
    <Frame
      brand={
        <>
          <Mark /> Posthorn
        </>
      }
      nav={[
        { title: data?.name ?? workspace, items: ofWorkspace },
        { title: t('nav.instance'), items: all },
      ]}
    >
      <Current path={path} />
    </Frame>
  )
}

function Current({ path }: { readonly path: string }) {
  if (path === '/') return <OverviewView scope={null} />
  if (path === '/workspaces') return <WorkspacesView />
  if (path === '/system') return <SystemView />
  const workspace = match('/w/:ws', path.split('/').slice(0, 3).join('/'))?.['ws']
  if (workspace !== undefined) {
    const rest = `/${path.split('/').slice(3).join('/')}`
    // A path with a word comes before a path with an id in the same place.
    const [found] = Object.entries(views)
      .flatMap(([pattern, view]) => {
        const parts = match(pattern === '' ? '/' : pattern, rest)
        return parts === null ? [] : [{ parts, view }]
      })
      .toSorted((a, b) => Object.keys(a.parts).length - Object.keys(b.parts).length)
    if (found) return <div key={path}>{found.view(scopeOf(workspace), found.parts)}</div>
  }
  return (
    <Panel>
      <Empty title={t('state.unknownPage')} hint={t('state.unknownPage.hint')} />
    </Panel>
  )
}

/** A post horn, drawn. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
      <path d="M2 11h9a4 4 0 1 1-4 4c0-4 4-5 9-5l5-4v11l-4-3.500" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  )
}
