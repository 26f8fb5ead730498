import { useState } from 'preact/hooks'

import { Listed } from '../kit/listed.tsx'
import { ask, query, segment } from '../kit/ask.ts'
import { Confirm, Dialog, DialogEnd, useAction } from '../kit/dialog.tsx'
import { Time } from '../kit/figures.tsx'
import { Filters, TextFilter } from '../kit/filters.tsx'
import { Field, FormError } from '../kit/form.tsx'
import { Head } from '../kit/layout.tsx'
import { useLoad } from '../kit/load.ts'
import { Link, parameters } from '../kit/router.tsx'
import { cursorOfPlace, type Page } from '../kit/table.tsx'
import type { Workspace } from '../kit/types.ts'
import { t } from '../texts.ts'

type Asked =
  | { readonly kind: 'edit'; readonly of: Workspace | null }
  | { readonly kind: 'delete'; readonly of: Workspace }
  | null

export function WorkspacesView() {
  const path = `/api/workspaces${query({ name: parameters.value.get('name'), ...cursorOfPlace(), limit: 25 })}`
  const loaded = useLoad(path, (signal) => ask<Page<Workspace>>(path, { signal }))
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => setAsked(null)
  return (
    <>
      <Head title={t('workspace.title')}>
        <button type="button" class="primary" onClick={() => setAsked({ kind: 'edit', of: null })}>
          {t('workspace.new')}
        </button>
      </Head>
      <Filters names={['name']}>
        <TextFilter name="name" label={t('workspace.search')} />
      </Filters>
      <Listed
        of={loaded}
        none={{ title: t('workspace.none') }}
        label={t('workspace.title')}
        to={({ id }) => `/w/${segment(id)}`}
        columns={[
          {
            title: t('workspace.name'),
            grows: true,
            cell: ({ id, name, description }) => (
              <>
                <Link to={`/w/${segment(id)}`}>{name ?? id}</Link>
                {description !== null && <span class="under">{description}</span>}
              </>
            ),
          },
          { title: t('workspace.id'), from: 'mid', cell: ({ id }) => <span class="id">{id}</span> },
          { title: t('workspace.created'), from: 'wide', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: t('table.actions'),
            number: true,
            cell: (row) => (
              <>
                <button type="button" class="quiet" onClick={() => setAsked({ kind: 'edit', of: row })}>
                  {t('action.edit')}
                </button>
                {row.id !== 'default' && (
                  <button type="button" class="quiet" onClick={() => setAsked({ kind: 'delete', of: row })}>
                    {t('action.delete')}
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
      {asked?.kind === 'edit' && <Form of={asked.of} onClose={close} onDone={loaded.reload} />}
      {asked?.kind === 'delete' && (
        <Confirm
          title={t('workspace.delete.title')}
          text={t('workspace.delete.text', { name: asked.of.name ?? asked.of.id })}
          word={asked.of.name ?? asked.of.id}
          action={t('action.delete')}
          run={async () => {
            await ask(`/api/workspaces/${segment(asked.of.id)}`, { method: 'DELETE' })
            loaded.reload()
          }}
          onClose={close}
        />
      )}
    </>
  )
}

const limitNames = ['events_per_second', 'retention_days', 'endpoints'] as const
const limitTexts = {
  events_per_second: 'workspace.limits.events',
  retention_days: 'workspace.limits.days',
  endpoints: 'workspace.limits.endpoints',
} as const

function Form({
  of,
  onClose,
  onDone,
}: {
  readonly of: Workspace | null
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const [id, setId] = useState('')
  const [name, setName] = useState(of?.name ?? '')
  const [description, setDescription] = useState(of?.description ?? '')
  const [limits, setLimits] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(limitNames.map((each) => [each, of?.limits[each]?.toString() ?? ''])),
  )
  const { busy, error, start } = useAction()
  const save = (event: Event) => {
    event.preventDefault()
    start(async () => {
      const numbers = Object.entries(limits).map(([each, text]) => [each, text === '' ? null : Number(text)])
      const body = {
        ...(of === null && id !== '' && { id }),
        name: name === '' ? null : name,
        description: description === '' ? null : description,
        limits: Object.fromEntries(numbers) as object,
      }
      await (of === null
        ? ask('/api/workspaces', { method: 'POST', body })
        : ask(`/api/workspaces/${segment(of.id)}`, { method: 'PUT', body }))
      onDone()
      onClose()
    })
  }
  return (
    <Dialog title={t(of === null ? 'workspace.new' : 'workspace.edit')} onClose={onClose}>
      <form onSubmit={save}>
        <Field label={t('workspace.name')} place="name" error={error}>
          {(attributes) => (
            <input
              {...attributes}
              value={name}
              disabled={of?.id === 'default'}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        {of === null && (
          <Field label={t('workspace.id')} hint={t('endpoint.id.hint')} place="id" error={error}>
            {(attributes) => <input {...attributes} value={id} onInput={(event) => setId(event.currentTarget.value)} />}
          </Field>
        )}
        <Field label={t('workspace.description')} place="description" error={error}>
          {(attributes) => (
            <input {...attributes} value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
          )}
        </Field>
        <fieldset>
          <legend class="legend-space">{t('workspace.limits')}</legend>
          {limitNames.map((each) => (
            <Field key={each} label={t(limitTexts[each])} place={`limits.${each}`} error={error}>
              {(attributes) => (
                <input
                  {...attributes}
                  type="number"
                  min={0}
                  value={limits[each] ?? ''}
                  onInput={(event) => {
                    const { value } = event.currentTarget
                    setLimits((before) => ({ ...before, [each]: value }))
                  }}
                />
              )}
            </Field>
          ))}
          <p class="hint">{t('workspace.limits.hint')}</p>
        </fieldset>
        <FormError error={error} places={['name', 'id', 'description', 'limits']} />
        <DialogEnd action={t('action.save')} disabled={busy} onClose={onClose} />
      </form>
    </Dialog>
  )
}
