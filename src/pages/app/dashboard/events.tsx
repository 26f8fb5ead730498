import { useState } from 'preact/hooks'

import { TypeField } from '../views/type-field.tsx'
import { Listed } from '../kit/listed.tsx'
import { ask, query, segment } from '../kit/ask.ts'
import { Dialog, DialogEnd, useAction } from '../kit/dialog.tsx'
import { Time } from '../kit/figures.tsx'
import { Filters, RangeFilter, since, TextFilter } from '../kit/filters.tsx'
import { Field, FormError } from '../kit/form.tsx'
import { Head } from '../kit/layout.tsx'
import { liveMs, useLoad } from '../kit/load.ts'
import { go, Link, parameters } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { cursorOfPlace, type Page } from '../kit/table.tsx'
import { say } from '../kit/toast.tsx'
import type { Event as PosthornEvent, EventType } from '../kit/types.ts'
import { t } from '../texts.ts'
import { useTypes } from '../views/catalogue.tsx'

const filterNames = ['event_type', 'unique_id', 'range']

export function EventsView({ scope }: { readonly scope: Scope }) {
  const search = parameters.value
  const types = useTypes(scope, true)
  const [sending, setSending] = useState(false)
  const path = `${scope.api}/events${query({
    event_type: search.get('event_type'),
    unique_id: search.get('unique_id'),
    'created_at[gte]': since(),
    ...cursorOfPlace(),
    limit: 25,
  })}`
  const isFirst = !search.has('after') && !search.has('before')
  const loaded = useLoad(path, (signal) => ask<Page<PosthornEvent>>(path, { signal }), {
    everyMs: isFirst ? liveMs : 0,
  })
  const isFiltered = filterNames.some((name) => search.has(name))

  return (
    <>
      <Head title={t('nav.events')}>
        <OpenById scope={scope} />
        <button type="button" class="primary" onClick={() => setSending(true)}>
          {t('event.send')}
        </button>
      </Head>
      <Filters names={filterNames}>
        <TextFilter
          name="event_type"
          label={t('filter.type')}
          options={types.data?.map(({ event_type }) => event_type) ?? []}
        />
        <TextFilter name="unique_id" label={t('filter.uniqueId')} />
        <RangeFilter />
      </Filters>
      <Listed
        of={loaded}
        bones={10}
        none={{
          title: t(isFiltered ? 'event.noMatch' : 'event.none'),
          hint: t(isFiltered ? 'delivery.noMatch.hint' : 'event.none.hint'),
        }}
        label={t('nav.events')}
        to={({ id }) => `${scope.path}/events/${segment(id)}`}
        columns={[
          {
            title: t('event.type'),
            grows: true,
            cell: ({ id, event_type }) => <Link to={`${scope.path}/events/${segment(id)}`}>{event_type}</Link>,
          },
          { title: t('event.id'), from: 'mid', cell: ({ id }) => <span class="id">{id}</span> },
          {
            title: t('event.uniqueId'),
            from: 'wide',
            cell: ({ unique_id }) =>
              unique_id === null ? <span class="dim">–</span> : <span class="id">{unique_id}</span>,
          },
          { title: t('event.time'), cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {sending && <SendEvent scope={scope} types={types.data ?? []} onClose={() => setSending(false)} />}
    </>
  )
}

/** Opens the event of an id that the user has. */
function OpenById({ scope }: { readonly scope: Scope }) {
  const [id, setId] = useState('')
  const open = (event: Event) => {
    event.preventDefault()
    if (id.trim() !== '') go(`${scope.path}/events/${segment(id.trim())}`)
  }
  return (
    <form onSubmit={open} role="search" aria-label={t('event.open')}>
      <input
        aria-label={t('event.open')}
        placeholder={t('event.open')}
        value={id}
        onInput={(event) => setId(event.currentTarget.value)}
      />
    </form>
  )
}

function SendEvent({
  scope,
  types,
  onClose,
}: {
  readonly scope: Scope
  readonly types: readonly EventType[]
  readonly onClose: () => void
}) {
  const exampleOf = (type: string) => {
    const example = types.find(({ event_type }) => event_type === type)?.example
    return example === null || example === undefined ? null : JSON.stringify(example, null, 2)
  }
  const [type, setType] = useState(types[0]?.event_type ?? '')
  const [data, setData] = useState(exampleOf(type) ?? '{}')
  const [uniqueId, setUniqueId] = useState('')
  const { busy, error, start } = useAction()
  const example = exampleOf(type)
  const submit = (event: Event) => {
    event.preventDefault()
    start(async () => {
      // The data is sent as it is written: parsed and written anew, large numbers would change.
      const head = JSON.stringify({ event_type: type, ...(uniqueId !== '' && { unique_id: uniqueId }) })
      const body = `${head.slice(0, -1)},"data":${data}}`
      const { id } = await ask<PosthornEvent>(`${scope.api}/events`, { method: 'POST', body })
      say(t('event.sent'))
      onClose()
      go(`${scope.path}/events/${segment(id)}`)
    })
  }
  return (
    <Dialog title={t('event.send')} onClose={onClose}>
      <form onSubmit={submit}>
        <TypeField value={type} types={types} error={error} onChange={setType} />
        <Field label={t('event.data')} place="data" error={error}>
          {(attributes) => (
            <textarea
              {...attributes}
              rows={10}
              spellcheck={false}
              value={data}
              onInput={(event) => setData(event.currentTarget.value)}
            />
          )}
        </Field>
        {example !== null && example !== data && (
          <button type="button" class="quiet" onClick={() => setData(example)}>
            {t('event.example')}
          </button>
        )}
        <Field label={t('event.uniqueId')} place="unique_id" error={error}>
          {(attributes) => (
            <input {...attributes} value={uniqueId} onInput={(event) => setUniqueId(event.currentTarget.value)} />
          )}
        </Field>
        <FormError error={error} places={['event_type', 'data', 'unique_id']} />
        <DialogEnd action={t('event.publish')} disabled={busy} onClose={onClose} />
      </form>
    </Dialog>
  )
}
