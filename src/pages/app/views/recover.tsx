import { useState } from 'preact/hooks'

import { Dialog, useAction } from '../kit/dialog.tsx'
import { count } from '../kit/figures.tsx'
import { Field } from '../kit/form.tsx'
import { useLoad } from '../kit/load.ts'
import type { Scope } from '../kit/scope.ts'
import { say } from '../kit/toast.tsx'
import { t, type TextKey } from '../texts.ts'
import { counted, replayed } from './replay.ts'

const rangesMs: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
}

/** Sends once more what an endpoint did not get. The server counts before anything is sent. */
export function Recover({
  scope,
  endpoint,
  missedSince,
  onClose,
  onDone,
}: {
  readonly scope: Scope
  readonly endpoint: string
  /** Since when events were missed, where that is known. */
  readonly missedSince?: number
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const [what, setWhat] = useState(missedSince === undefined ? 'failed' : 'missing')
  const [range, setRange] = useState(missedSince === undefined ? '24h' : 'off')
  const [opened] = useState(() => Date.now())
  const from = range === 'off' ? (missedSince ?? opened) : opened - (rangesMs[range] ?? 0)
  const body = {
    endpoint_id: endpoint,
    created_at: { gte: from, lte: opened },
    ...(what === 'missing' && { missing: true }),
  }
  const path = `${scope.api}/events/replay`
  const preview = useLoad(`${what} ${range}`, (signal) => counted(path, body, signal))
  const { busy, error, start } = useAction()
  const matched = preview.data?.matched ?? 0
  const send = () =>
    start(async () => {
      const made = await replayed(path, body)
      say(t('endpoint.recovered', { n: count(made) }))
      onDone()
      onClose()
    })

  return (
    <Dialog title={t('endpoint.recover.title')} onClose={onClose}>
      <Field label={t('endpoint.recover.what')}>
        {(attributes) => (
          <select {...attributes} value={what} onChange={(event) => setWhat(event.currentTarget.value)}>
            <option value="failed">{t('endpoint.recover.failed')}</option>
            <option value="missing">{t('endpoint.recover.missing')}</option>
          </select>
        )}
      </Field>
      <Field label={t('range.label')}>
        {(attributes) => (
          <select {...attributes} value={range} onChange={(event) => setRange(event.currentTarget.value)}>
            {missedSince !== undefined && <option value="off">{t('endpoint.recover.sinceOff')}</option>}
            {Object.keys(rangesMs).map((each) => (
              <option key={each} value={each}>
                {t(`range.${each}` as TextKey)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <p class="note" role="status">
        {preview.error
          ? preview.error.message
          : preview.data === undefined
            ? t('endpoint.recover.counting')
            : matched === 0
              ? t('endpoint.recover.nothing')
              : t('endpoint.recover.count', { n: count(matched) })}
      </p>
      {error && (
        <p class="note note-bad" role="alert">
          {error.message}
        </p>
      )}
      <div class="actions">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <button type="button" class="primary" disabled={busy || matched === 0} onClick={send}>
          {t('endpoint.recover.send', { n: count(matched) })}
        </button>
      </div>
    </Dialog>
  )
}
