import { useState } from 'preact/hooks'

import { ask, segment } from '../kit/ask.ts'
import { useAction } from '../kit/dialog.tsx'
import { Check, Field, FormEnd, FormError, linesOf, linesOfPairs, pairsOf } from '../kit/form.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { go } from '../kit/router.tsx'
import { nameOf, type Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import type { Endpoint } from '../kit/types.ts'
import { t } from '../texts.ts'

/** The fields of the form, as texts. */
interface Draft {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly url: string
  readonly method: string
  readonly timeout: string
  readonly headers: string
  readonly events: string
  readonly attempts: string
  readonly jitter: string
  readonly quota: string
  readonly period: string
  readonly metadata: string
  readonly enabled: boolean
}

const places = ['id', 'name', 'description', 'request', 'retry', 'events', 'rate_limit', 'metadata']
const methods = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

const empty: Draft = {
  id: '',
  name: '',
  description: '',
  url: '',
  method: 'POST',
  timeout: '',
  headers: '',
  events: '*',
  attempts: '',
  jitter: '',
  quota: '',
  period: '',
  metadata: '',
  enabled: true,
}

function draftOf({ id, name, description, request, retry, events, rate_limit, metadata, enabled }: Endpoint): Draft {
  return {
    id,
    name: name ?? '',
    description: description ?? '',
    url: request.url,
    method: request.method,
    timeout: String(request.timeout),
    headers: linesOfPairs(request.headers),
    events: events.join('\n'),
    attempts: retry.config.attempts.join(', '),
    jitter: String(retry.config.jitter),
    quota: rate_limit === null ? '' : String(rate_limit.quota),
    period: rate_limit === null ? '' : String(rate_limit.period),
    metadata: linesOfPairs(metadata),
    enabled,
  }
}

/** The text as a number; a text that is no number stays, for the server to refuse. */
function numberOf(text: string): number | string {
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** What is sent. At creation a field that stands empty is left out, so that it has the default of the host. */
function inputOf(draft: Draft, isNew: boolean): object {
  const text = (value: string) => (value.trim() === '' ? null : value)
  const attempts = linesOf(draft.attempts).map(numberOf)
  const config = {
    ...(attempts.length > 0 && { attempts }),
    ...(draft.jitter !== '' && { jitter: numberOf(draft.jitter) }),
  }
  const rate =
    draft.quota === '' && draft.period === '' ? null : { quota: numberOf(draft.quota), period: numberOf(draft.period) }
  return {
    ...(isNew && draft.id !== '' && { id: draft.id }),
    name: text(draft.name),
    description: text(draft.description),
    enabled: draft.enabled,
    request: {
      url: draft.url,
      method: draft.method,
      headers: pairsOf(draft.headers),
      ...(draft.timeout !== '' && { timeout: numberOf(draft.timeout) }),
    },
    ...(Object.keys(config).length > 0 && { retry: { strategy: 'fixed', config } }),
    events: linesOf(draft.events),
    ...((rate !== null || !isNew) && { rate_limit: rate }),
    metadata: pairsOf(draft.metadata) ?? {},
  }
}

export function NewEndpoint({ scope }: { readonly scope: Scope }) {
  return <Form scope={scope} from={empty} existing={null} />
}

export function EndpointForm({ scope, id }: { readonly scope: Scope; readonly id: string }) {
  const path = `${scope.api}/endpoints/${segment(id)}`
  const loaded = useLoad(path, (signal) => ask<Endpoint>(path, { signal }))
  return <Shown of={loaded}>{(endpoint) => <Form scope={scope} from={draftOf(endpoint)} existing={endpoint} />}</Shown>
}

function Form({
  scope,
  from,
  existing,
}: {
  readonly scope: Scope
  readonly from: Draft
  readonly existing: Endpoint | null
}) {
  const [draft, setDraft] = useState(from)
  const { busy, error, start } = useAction()
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const list = `${scope.path}/endpoints`
  const back = existing === null ? list : `${list}/${segment(existing.id)}`
  const save = (event: Event) => {
    event.preventDefault()
    start(async () => {
      const body = inputOf(draft, existing === null)
      const path = `${scope.api}/endpoints`
      const { id } =
        existing === null
          ? await ask<Endpoint>(path, { method: 'POST', body })
          : await ask<Endpoint>(`${path}/${segment(existing.id)}`, { method: 'PUT', body })
      go(`${list}/${segment(id)}`)
    })
  }
  const input =
    (name: Exclude<keyof Draft, 'enabled'>, more: object = {}) =>
    (attributes: object) => (
      <input
        {...attributes}
        {...more}
        value={draft[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    )
  const area = (name: Exclude<keyof Draft, 'enabled'>) => (attributes: object) => (
    <textarea
      {...attributes}
      spellcheck={false}
      value={draft[name]}
      onInput={(event) => set({ [name]: event.currentTarget.value })}
    />
  )

  return (
    <>
      <Head
        title={t(existing === null ? 'endpoint.new' : 'endpoint.edit')}
        trail={{ to: back, text: existing === null ? t('nav.endpoints') : nameOf(existing) }}
      />
      <Panel>
        <form class="form" onSubmit={save}>
          <FormError error={error} places={places} />
          <Field label={t('endpoint.url')} hint={t('endpoint.url.hint')} place="request.url" error={error}>
            {input('url', { required: true, type: 'url', inputMode: 'url', autoComplete: 'off' })}
          </Field>
          <Field label={t('endpoint.name')} place="name" error={error}>
            {input('name')}
          </Field>
          <Field label={t('endpoint.events')} hint={t('endpoint.events.hint')} place="events" error={error}>
            {area('events')}
          </Field>
          <Field label={t('endpoint.description')} place="description" error={error}>
            {input('description')}
          </Field>
          <details class="more" open={existing !== null}>
            <summary>{t('endpoint.more')}</summary>
            <div class="field-row">
              <Field label={t('endpoint.method')} place="request.method" error={error}>
                {(attributes) => (
                  <select
                    {...attributes}
                    value={draft.method}
                    onChange={(event) => set({ method: event.currentTarget.value })}
                  >
                    {methods.map((method) => (
                      <option key={method}>{method}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field
                label={t('endpoint.timeout')}
                hint={t('endpoint.timeout.hint')}
                place="request.timeout"
                error={error}
              >
                {input('timeout', { inputMode: 'numeric' })}
              </Field>
            </div>
            <Field
              label={t('endpoint.headers')}
              hint={t('endpoint.headers.hint')}
              place="request.headers"
              error={error}
            >
              {area('headers')}
            </Field>
            <div class="field-row">
              <Field
                label={t('endpoint.retry')}
                hint={t('endpoint.retry.hint')}
                place="retry.config.attempts"
                error={error}
              >
                {input('attempts')}
              </Field>
              <Field
                label={t('endpoint.jitter')}
                hint={t('endpoint.jitter.hint')}
                place="retry.config.jitter"
                error={error}
              >
                {input('jitter', { inputMode: 'decimal' })}
              </Field>
            </div>
            <fieldset>
              <legend>{t('endpoint.rate')}</legend>
              <div class="field-row">
                <Field label={t('endpoint.rate.quota')} place="rate_limit.quota" error={error}>
                  {input('quota', { inputMode: 'numeric' })}
                </Field>
                <Field label={t('endpoint.rate.period')} place="rate_limit.period" error={error}>
                  {input('period', { inputMode: 'numeric' })}
                </Field>
              </div>
              <p class="hint">{t('endpoint.rate.hint')}</p>
            </fieldset>
            <Field label={t('endpoint.metadata')} hint={t('endpoint.metadata.hint')} place="metadata" error={error}>
              {area('metadata')}
            </Field>
            {existing === null && (
              <Field label={t('endpoint.id')} hint={t('endpoint.id.hint')} place="id" error={error}>
                {input('id')}
              </Field>
            )}
          </details>
          <Check label={t('endpoint.enabled')} checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
          <FormEnd busy={busy} isNew={existing === null} back={back} />
        </form>
      </Panel>
    </>
  )
}
