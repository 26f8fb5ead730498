import { useState } from 'preact/hooks'

import { Listed } from '../kit/listed.tsx'
import { ask, query, segment } from '../kit/ask.ts'
import { Confirm, useAction } from '../kit/dialog.tsx'
import { Time } from '../kit/figures.tsx'
import { Check, Field, FormEnd, FormError } from '../kit/form.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { go, Link, parameters } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import { cursorOfPlace, type Page } from '../kit/table.tsx'
import type { Plugin, Source } from '../kit/types.ts'
import { t } from '../texts.ts'
import { useEndpoints } from '../views/deliveries.tsx'
import { type Config, ConfigFields, type ConfigSchema } from './config-fields.tsx'
import { OnOff } from './sources.tsx'

export function PluginsView({ scope }: { readonly scope: Scope }) {
  const path = `${scope.api}/plugins${query({ ...cursorOfPlace(), limit: 25 })}`
  const loaded = useLoad(path, (signal) => ask<Page<Plugin>>(path, { signal }))
  const owners = useOwners(scope)
  return (
    <>
      <Head title={t('nav.plugins')}>
        <Link to={`${scope.path}/plugins/new`} class="button primary">
          {t('plugin.new')}
        </Link>
      </Head>
      <Listed
        of={loaded}
        none={{ title: t('plugin.none'), hint: t('plugin.none.hint') }}
        label={t('nav.plugins')}
        to={({ id }) => `${scope.path}/plugins/${segment(id)}`}
        columns={[
          { title: t('filter.status'), cell: ({ enabled }) => <OnOff on={enabled} /> },
          {
            title: t('plugin.kind'),
            cell: ({ id, name }) => <Link to={`${scope.path}/plugins/${segment(id)}`}>{name}</Link>,
          },
          { title: t('plugin.owner'), grows: true, cell: (row) => owners.get(ownerOf(row)) ?? ownerOf(row) },
          { title: t('endpoint.changed'), from: 'mid', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}

function ownerOf({ endpoint_id, source_id }: Plugin): string {
  return endpoint_id ?? source_id ?? ''
}

/** What endpoints and sources are called, by id. */
function useOwners(scope: Scope): ReadonlyMap<string, string> {
  const endpoints = useEndpoints(scope)
  const { data } = useLoad(`sources ${scope.api}`, (signal) =>
    ask<Page<Source>>(`${scope.api}/sources?limit=1000`, { signal }),
  )
  return new Map([
    ...[...endpoints.values()].map((endpoint) => [endpoint.id, nameOf(endpoint)] as const),
    ...(data?.data ?? []).map(({ id, name, config }) => [id, name ?? config.http.path] as const),
  ])
}

/** A kind of plugin, as `/plugin-kinds` tells it. */
interface Kind {
  readonly name: string
  readonly sides: readonly ('inbound' | 'outbound')[]
  readonly schema: ConfigSchema
}

export function PluginForm({ scope, id }: { readonly scope: Scope; readonly id: string | null }) {
  const kinds = useLoad('plugin kinds', (signal) => ask<readonly Kind[]>('/plugin-kinds', { signal }))
  const path = `${scope.api}/plugins/${segment(id ?? '')}`
  const loaded = useLoad(id === null ? null : path, (signal) => ask<Plugin>(path, { signal }))
  return (
    <Shown of={kinds}>
      {(all) =>
        id === null ? (
          <Form scope={scope} kinds={all} existing={null} />
        ) : (
          <Shown of={loaded}>{(plugin) => <Form scope={scope} kinds={all} existing={plugin} />}</Shown>
        )
      }
    </Shown>
  )
}

interface FormProps {
  readonly scope: Scope
  readonly kinds: readonly Kind[]
  readonly existing: Plugin | null
}

function Form({ scope, kinds, existing }: FormProps) {
  const given = parameters.value.get('endpoint_id')
  const [name, setName] = useState(existing?.name ?? (given === null ? kinds[0]?.name : 'standard-webhooks') ?? '')
  const [owner, setOwner] = useState(existing === null ? (given ?? '') : ownerOf(existing))
  const [enabled, setEnabled] = useState(existing?.enabled ?? true)
  const [config, setConfig] = useState<Config>(existing?.config ?? {})
  const [deleting, setDeleting] = useState(false)
  const { busy, error, start } = useAction()
  const owners = useOwners(scope)
  const endpoints = useEndpoints(scope)
  const kind = kinds.find((each) => each.name === name)
  const list = `${scope.path}/plugins`
  const fitting = [...owners].filter(([id]) => kind?.sides.includes(endpoints.has(id) ? 'outbound' : 'inbound') ?? true)
  const save = (event: Event) => {
    event.preventDefault()
    start(async () => {
      const place = endpoints.has(owner)
        ? { endpoint_id: owner, source_id: null }
        : { source_id: owner, endpoint_id: null }
      const path = `${scope.api}/plugins`
      await (existing === null
        ? ask(path, { method: 'POST', body: { name, enabled, config, ...place } })
        : ask(`${path}/${segment(existing.id)}`, { method: 'PUT', body: { enabled, config } }))
      go(endpoints.has(owner) ? `${scope.path}/endpoints/${segment(owner)}` : list)
    })
  }
  return (
    <>
      <Head title={existing?.name ?? t('plugin.new')} trail={{ to: list, text: t('nav.plugins') }}>
        {existing !== null && (
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            {t('action.delete')}
          </button>
        )}
      </Head>
      <Panel>
        <form class="form" onSubmit={save}>
          <FormError error={error} places={['name', 'endpoint_id', 'source_id', 'config']} />
          {existing === null && (
            <Field label={t('plugin.kind')} place="name" error={error}>
              {(attributes) => (
                <select
                  {...attributes}
                  value={name}
                  onChange={(event) => {
                    setName(event.currentTarget.value)
                    setConfig({})
                  }}
                >
                  {kinds.map((each) => (
                    <option key={each.name}>{each.name}</option>
                  ))}
                </select>
              )}
            </Field>
          )}
          <Field label={t('plugin.owner')} place={endpoints.has(owner) ? 'endpoint_id' : 'source_id'} error={error}>
            {(attributes) => (
              <select
                {...attributes}
                required
                disabled={existing !== null}
                value={owner}
                onChange={(event) => setOwner(event.currentTarget.value)}
              >
                <option value="">{t('plugin.owner.choose')}</option>
                {fitting.map(([id, text]) => (
                  <option key={id} value={id}>
                    {text}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <ConfigFields schema={kind?.schema ?? {}} value={config} place="config" error={error} onChange={setConfig} />
          <Check label={t('plugin.enabled')} checked={enabled} onChange={setEnabled} />
          <FormEnd busy={busy} isNew={existing === null} back={list} />
        </form>
      </Panel>
      {deleting && existing !== null && (
        <Confirm
          title={t('plugin.delete.title')}
          text={t('plugin.delete.text')}
          action={t('action.delete')}
          run={async () => {
            await ask(`${scope.api}/plugins/${segment(existing.id)}`, { method: 'DELETE' })
            go(list)
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  )
}
