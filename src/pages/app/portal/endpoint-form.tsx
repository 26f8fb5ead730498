import { useState } from 'preact/hooks'

import { ask, segment } from '../kit/ask.ts'
import { useAction } from '../kit/dialog.tsx'
import { Check, Field, FormEnd, FormError, linesOf, linesOfPairs, pairsOf } from '../kit/form.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { go } from '../kit/router.tsx'
import { nameOf } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import type { EventType } from '../kit/types.ts'
import { t } from '../texts.ts'
import { groupsOf } from '../views/catalogue.tsx'
import type { PortalEndpoint, Session } from './session.ts'

const places = ['url', 'description', 'events', 'headers']

interface FormProps {
  readonly session: Session
  readonly types: readonly EventType[]
  readonly existing: PortalEndpoint | null
}

export function EditEndpoint({ id, ...rest }: Omit<FormProps, 'existing'> & { readonly id: string }) {
  const path = `/api/v1/endpoints/${segment(id)}`
  const loaded = useLoad(path, (signal) => ask<PortalEndpoint>(path, { signal }))
  return <Shown of={loaded}>{(endpoint) => <Form {...rest} existing={endpoint} />}</Shown>
}

export function Form({ session, types, existing }: FormProps) {
  const [url, setUrl] = useState(existing?.url ?? 'https://')
  const [description, setDescription] = useState(existing?.description ?? '')
  const [events, setEvents] = useState<readonly string[]>(existing?.events ?? ['*'])
  const [headers, setHeaders] = useState(linesOfPairs(existing?.headers ?? null))
  const { busy, error, start } = useAction()
  const back = existing === null ? '/' : `/endpoints/${segment(existing.id)}`
  const save = (event: Event) => {
    event.preventDefault()
    start(async () => {
      const body = {
        url,
        description: description.trim() === '' ? null : description,
        events,
        ...(session.allow.headers && { headers: pairsOf(headers) }),
      }
      const { id } = await (existing === null
        ? ask<PortalEndpoint>('/api/v1/endpoints', { method: 'POST', body })
        : ask<PortalEndpoint>(`/api/v1/endpoints/${segment(existing.id)}`, { method: 'PATCH', body }))
      go(`/endpoints/${segment(id)}`)
    })
  }
  return (
    <>
      <Head
        title={t(existing === null ? 'endpoint.new' : 'endpoint.edit')}
        trail={{ to: back, text: existing === null ? t('nav.endpoints') : nameOf(existing) }}
      />
      <Panel>
        <form class="form" onSubmit={save}>
          <FormError error={error} places={places} />
          <Field label={t('endpoint.url')} hint={t('endpoint.url.hint')} place="url" error={error}>
            {(attributes) => (
              <input
                {...attributes}
                type="url"
                required
                value={url}
                autoComplete="off"
                onInput={(event) => setUrl(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t('endpoint.description')} place="description" error={error}>
            {(attributes) => (
              <input
                {...attributes}
                value={description}
                onInput={(event) => setDescription(event.currentTarget.value)}
              />
            )}
          </Field>
          <EventChoice types={types} chosen={events} onChange={setEvents} />
          {session.allow.headers && (
            <Field label={t('endpoint.headers')} hint={t('endpoint.headers.hint')} place="headers" error={error}>
              {(attributes) => (
                <textarea
                  {...attributes}
                  spellcheck={false}
                  value={headers}
                  onInput={(event) => setHeaders(event.currentTarget.value)}
                />
              )}
            </Field>
          )}
          <FormEnd busy={busy} isNew={existing === null} back={back} />
        </form>
      </Panel>
    </>
  )
}

/** The catalogue as a tree of boxes; types that no box stands for are written by hand. */
function EventChoice({
  types,
  chosen,
  onChange,
}: {
  readonly types: readonly EventType[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) {
  const all = chosen.includes('*')
  const known = new Set(types.map(({ event_type }) => event_type))
  const others = chosen.filter((each) => each !== '*' && !known.has(each))
  // The text of the field while somebody writes in it; the catalogue may load after the field.
  const [written, setWritten] = useState<string | null>(null)
  const set = (names: readonly string[], on: boolean) => {
    const rest = chosen.filter((each) => !names.includes(each))
    onChange(on ? [...rest, ...names] : rest)
  }
  return (
    <fieldset>
      <legend>{t('endpoint.events')}</legend>
      <Check label={t('portal.events.every')} checked={all} onChange={(on) => onChange(on ? ['*'] : [])} />
      {!all && (
        <>
          {types.length > 0 && (
            <ul class="tree" tabIndex={0} aria-label={t('portal.events.choose')}>
              {groupsOf(types).map(([group, own]) => {
                const names = own.map(({ event_type }) => event_type)
                return (
                  <li key={group}>
                    <Check
                      label={group}
                      checked={names.every((each) => chosen.includes(each))}
                      onChange={(on) => set(names, on)}
                    />
                    <ul>
                      {own.map(({ event_type, description }) => (
                        <li key={event_type} title={description ?? ''}>
                          <Check
                            label={event_type}
                            checked={chosen.includes(event_type)}
                            onChange={(on) => set([event_type], on)}
                          />
                        </li>
                      ))}
                    </ul>
                  </li>
                )
              })}
            </ul>
          )}
          <Field label={t('portal.events.other')} hint={t('endpoint.events.hint')}>
            {(attributes) => (
              <textarea
                {...attributes}
                spellcheck={false}
                value={written ?? others.join('\n')}
                onInput={(event) => {
                  const text = event.currentTarget.value
                  setWritten(text)
                  onChange([...chosen.filter((each) => known.has(each)), ...linesOf(text)])
                }}
              />
            )}
          </Field>
        </>
      )}
    </fieldset>
  )
}
