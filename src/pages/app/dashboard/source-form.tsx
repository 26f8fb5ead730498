import { useState } from 'preact/hooks'

import { ask, segment } from '../kit/ask.ts'
import { useAction } from '../kit/dialog.tsx'
import { Check, Field, FormEnd, FormError, linesOf } from '../kit/form.tsx'
import { Head, Panel } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { go } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import { Shown } from '../kit/states.tsx'
import type { Source } from '../kit/types.ts'
import { t } from '../texts.ts'

const places = ['name', 'config', 'rate_limit']

export function SourceForm({ scope, id }: { readonly scope: Scope; readonly id: string | null }) {
  const path = `${scope.api}/sources/${segment(id ?? '')}`
  const loaded = useLoad(id === null ? null : path, (signal) => ask<Source>(path, { signal }))
  if (id === null) return <Form scope={scope} existing={null} />
  return <Shown of={loaded}>{(source) => <Form scope={scope} existing={source} />}</Shown>
}

function Form({ scope, existing }: { readonly scope: Scope; readonly existing: Source | null }) {
  const http = existing?.config.http
  const [name, setName] = useState(existing?.name ?? '')
  const [path, setPath] = useState<string>(http?.path ?? '/')
  const [methods, setMethods] = useState((http?.methods ?? ['POST']).join(', '))
  const [enabled, setEnabled] = useState(existing?.enabled ?? true)
  const [async, setAsync] = useState(existing?.async ?? false)
  const [code, setCode] = useState(http?.response ? String(http.response.code) : '')
  const [type, setType] = useState(http?.response?.content_type ?? 'application/json')
  const [text, setText] = useState(http?.response?.body ?? '')
  const { busy, error, start } = useAction()
  const back = existing === null ? `${scope.path}/sources` : `${scope.path}/sources/${segment(existing.id)}`
  const save = (event: Event) => {
    event.preventDefault()
    start(async () => {
      const response = code === '' ? null : { code: Number(code), content_type: type, body: text }
      const body = {
        name: name === '' ? null : name,
        enabled,
        async,
        config: { http: { path, methods: linesOf(methods).map((each) => each.toUpperCase()), response } },
      }
      const list = `${scope.api}/sources`
      const { id } = await (existing === null
        ? ask<Source>(list, { method: 'POST', body })
        : ask<Source>(`${list}/${segment(existing.id)}`, { method: 'PUT', body }))
      go(`${scope.path}/sources/${segment(id)}`)
    })
  }
  const input =
    (value: string, set: (value: string) => void, more: object = {}) =>
    (attributes: object) => (
      <input {...attributes} {...more} value={value} onInput={(event) => set(event.currentTarget.value)} />
    )
  return (
    <>
      <Head title={t(existing === null ? 'source.new' : 'source.edit')} trail={{ to: back, text: t('nav.sources') }} />
      <Panel>
        <form class="form" onSubmit={save}>
          <FormError error={error} places={places} />
          <Field label={t('source.path')} place="config.http.path" error={error}>
            {input(path, setPath, { required: true, spellcheck: false })}
          </Field>
          <Field label={t('endpoint.name')} place="name" error={error}>
            {input(name, setName)}
          </Field>
          <Field label={t('source.methods')} place="config.http.methods" error={error}>
            {input(methods, setMethods)}
          </Field>
          <details class="more" open={code !== ''}>
            <summary>{t('source.response')}</summary>
            <div class="field-row">
              <Field label={t('source.response.code')} place="config.http.response.code" error={error}>
                {input(code, setCode, { type: 'number', min: 200, max: 599 })}
              </Field>
              <Field label={t('source.response.type')} place="config.http.response.content_type" error={error}>
                {input(type, setType)}
              </Field>
            </div>
            <Field label={t('source.response.body')} place="config.http.response.body" error={error}>
              {(attributes) => (
                <textarea {...attributes} value={text} onInput={(event) => setText(event.currentTarget.value)} />
              )}
            </Field>
          </details>
          <Check label={t('source.enabled')} checked={enabled} onChange={setEnabled} />
          <Check label={t('source.async')} checked={async} onChange={setAsync} />
          <FormEnd busy={busy} isNew={existing === null} back={back} />
        </form>
      </Panel>
    </>
  )
}
