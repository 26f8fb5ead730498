import type { ComponentChildren } from 'preact'

import { t } from '../texts.ts'
import type { AskError } from './ask.ts'
import type { Loaded } from './load.ts'

/** Nothing to show, and what the user may do. */
export function Empty({
  title,
  hint,
  children,
}: {
  readonly title: string
  readonly hint?: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint !== undefined && <p class="dim">{hint}</p>}
      {children}
    </div>
  )
}

export function Failed({ error, retry }: { readonly error: AskError; readonly retry?: () => void }) {
  if (error.status === 404) return <Empty title={t('state.missing')} hint={t('state.unknownPage.hint')} />
  return (
    <div class="empty" role="alert">
      <p class="empty-title">{t('state.failed')}</p>
      <p class="dim">{error.message}</p>
      {retry && (
        <button type="button" onClick={retry}>
          {t('action.retry')}
        </button>
      )}
    </div>
  )
}

export function Loading({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div class="loading" role="status" aria-label={t('state.loading')}>
      {Array.from({ length: rows }, (_, i) => (
        <div class="bone" key={i} />
      ))}
    </div>
  )
}

/** What was loaded; before it a placeholder, in place of it an error. An error beside older data stands above the data. */
export function Shown<Data>({
  of: { data, error, reload },
  rows,
  children,
}: {
  readonly of: Loaded<Data>
  readonly rows?: number
  readonly children: (data: Data) => ComponentChildren
}) {
  if (data === undefined) {
    return error === undefined ? (
      <Loading {...(rows !== undefined && { rows })} />
    ) : (
      <Failed error={error} retry={reload} />
    )
  }
  return (
    <>
      {error !== undefined && (
        <p class="note note-warn" role="status">
          {t('state.stale', { reason: error.message })}
        </p>
      )}
      {children(data)}
    </>
  )
}
