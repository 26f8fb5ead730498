import { useState } from 'preact/hooks'

import { Listed } from '../kit/listed.tsx'
import { ask, query, segment } from '../kit/ask.ts'
import { Answer, Badge } from '../kit/badge.tsx'
import { Code } from '../kit/code.tsx'
import { Id } from '../kit/copy.tsx'
import { Confirm } from '../kit/dialog.tsx'
import { duration, Time } from '../kit/figures.tsx'
import { Facts, Head, Panel } from '../kit/layout.tsx'
import { liveMs, useLoad } from '../kit/load.ts'
import { go, Link } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { Empty, Shown } from '../kit/states.tsx'
import { cursorOfPlace, type Page, Table } from '../kit/table.tsx'
import type { Source, SourceRequest } from '../kit/types.ts'
import { t } from '../texts.ts'

function titleOf({ name, config, id }: Source): string {
  return name ?? config.http.path ?? id
}

export function SourcesView({ scope }: { readonly scope: Scope }) {
  const path = `${scope.api}/sources${query({ ...cursorOfPlace(), limit: 25 })}`
  const loaded = useLoad(path, (signal) => ask<Page<Source>>(path, { signal }))
  return (
    <>
      <Head title={t('nav.sources')}>
        <Link to={`${scope.path}/sources/new`} class="button primary">
          {t('source.new')}
        </Link>
      </Head>
      <Listed
        of={loaded}
        none={{ title: t('source.none'), hint: t('source.none.hint') }}
        label={t('nav.sources')}
        to={({ id }) => `${scope.path}/sources/${segment(id)}`}
        columns={[
          { title: t('filter.status'), cell: ({ enabled }) => <OnOff on={enabled} /> },
          {
            title: t('source.title'),
            grows: true,
            cell: (row) => <Link to={`${scope.path}/sources/${segment(row.id)}`}>{titleOf(row)}</Link>,
          },
          {
            title: t('source.path'),
            from: 'mid',
            cell: ({ config }) => <span class="id">{config.http.path}</span>,
          },
          { title: t('source.methods'), from: 'wide', cell: ({ config }) => config.http.methods.join(', ') },
          { title: t('workspace.created'), from: 'wide', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  )
}

export function OnOff({ on }: { readonly on: boolean }) {
  return <Badge tone={on ? 'good' : 'dim'}>{t(on ? 'state.on' : 'state.off')}</Badge>
}

export function SourceView({ scope, id }: { readonly scope: Scope; readonly id: string }) {
  const path = `${scope.api}/sources/${segment(id)}`
  const loaded = useLoad(path, (signal) => ask<Source>(path, { signal }))
  const [deleting, setDeleting] = useState(false)
  return (
    <>
      <Head
        title={loaded.data === undefined ? t('source.title') : titleOf(loaded.data)}
        badge={loaded.data && <OnOff on={loaded.data.enabled} />}
        trail={{ to: `${scope.path}/sources`, text: t('nav.sources') }}
      >
        <Link to={`${scope.path}/sources/${segment(id)}/edit`} class="button">
          {t('action.edit')}
        </Link>
        <button type="button" class="danger" onClick={() => setDeleting(true)}>
          {t('action.delete')}
        </button>
      </Head>
      <Shown of={loaded}>
        {(source) => (
          <>
            <Panel title={t('endpoint.settings')}>
              <Facts
                of={[
                  [t('source.path'), <Id of={source.config.http.path} />],
                  [t('source.methods'), source.config.http.methods.join(', ')],
                  [t('endpoint.id'), <Id of={source.id} />],
                  [t('source.async'), t(source.async ? 'state.on' : 'state.off')],
                  [t('endpoint.created'), <Time at={source.created_at} />],
                  [t('endpoint.changed'), <Time at={source.updated_at} />],
                ]}
              />
            </Panel>
            <Requests scope={scope} id={id} />
          </>
        )}
      </Shown>
      {deleting && (
        <Confirm
          title={t('source.delete.title')}
          text={t('source.delete.text')}
          action={t('action.delete')}
          run={async () => {
            await ask(path, { method: 'DELETE' })
            go(`${scope.path}/sources`)
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  )
}

function Requests({ scope, id }: { readonly scope: Scope; readonly id: string }) {
  const path = `${scope.api}/sources/${segment(id)}/requests`
  const loaded = useLoad(path, (signal) => ask<{ readonly data: readonly SourceRequest[] }>(path, { signal }), {
    everyMs: liveMs,
  })
  return (
    <Panel title={t('source.requests')}>
      <p class="dim">{t('source.requests.hint')}</p>
      <Shown of={loaded} rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t('source.requests.none')} />
          ) : (
            <Table
              label={t('source.requests')}
              rows={data.map((row, i) => ({ ...row, key: `${row.at} ${i}` }))}
              keyOf={({ key }) => key}
              columns={[
                { title: t('endpoint.method'), cell: ({ method }) => method },
                { title: t('delivery.answer'), cell: ({ status }) => <Answer status={status} error={null} /> },
                {
                  title: t('event.title'),
                  grows: true,
                  cell: ({ event_id, reason, body }) => (
                    <>
                      {event_id === null ? (
                        <span class="dim">{reason ?? '–'}</span>
                      ) : (
                        <Link to={`${scope.path}/events/${segment(event_id)}`} class="id">
                          {event_id}
                        </Link>
                      )}
                      {body !== null && (
                        <details>
                          <summary>{t('source.requests.body')}</summary>
                          <Code text={body} label={t('source.requests.body')} />
                        </details>
                      )}
                    </>
                  ),
                },
                { title: t('delivery.latency'), from: 'mid', number: true, cell: ({ latency }) => duration(latency) },
                { title: t('event.time'), cell: ({ at }) => <Time at={at} /> },
              ]}
            />
          )
        }
      </Shown>
    </Panel>
  )
}
