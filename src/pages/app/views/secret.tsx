import { useState } from 'preact/hooks'

import { ask, AskError, segment } from '../kit/ask.ts'
import { Copy } from '../kit/copy.tsx'
import { Dialog, useAction } from '../kit/dialog.tsx'
import { Time } from '../kit/figures.tsx'
import { Field } from '../kit/form.tsx'
import { Panel } from '../kit/layout.tsx'
import type { Scope } from '../kit/scope.ts'
import { say } from '../kit/toast.tsx'
import type { EndpointSecret } from '../kit/types.ts'
import { t } from '../texts.ts'

/** The signing secret of an endpoint: hidden until asked for, rotated with an overlap. */
export function SecretPanel({ scope, endpoint }: { readonly scope: Scope; readonly endpoint: string }) {
  const [secret, setSecret] = useState<EndpointSecret | null>(null)
  const [rotating, setRotating] = useState(false)
  const { busy, error, start } = useAction()
  const path = `${scope.api}/endpoints/${segment(endpoint)}/secret`
  const show = () => start(async () => setSecret(await ask<EndpointSecret>(path)))
  const isUnsigned = error instanceof AskError && error.status === 400

  return (
    <Panel
      title={t('endpoint.secret')}
      actions={
        <>
          {scope.may.secret && secret === null && (
            <button type="button" onClick={show} disabled={busy}>
              {t('action.show')}
            </button>
          )}
          {secret !== null && (
            <button type="button" onClick={() => setSecret(null)}>
              {t('action.hide')}
            </button>
          )}
          {scope.may.rotate && (
            <button type="button" onClick={() => setRotating(true)}>
              {t('endpoint.rotate')}
            </button>
          )}
        </>
      }
    >
      {secret === null ? (
        <p class={error ? '' : 'dim'} role={error ? 'alert' : undefined}>
          {error ? (isUnsigned ? t('endpoint.secret.none') : error.message) : '••••••••••••••••••••••••'}
        </p>
      ) : (
        <ul class="rows">
          {secret.secrets.map(({ secret: text, expires_at }) => (
            <li key={text} class="secret">
              <code>{text}</code>
              <Copy text={text} quiet />
              {expires_at !== null && (
                <span class="dim">
                  <Time at={expires_at} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {rotating && (
        <Rotate
          path={path}
          onClose={() => setRotating(false)}
          onDone={(rotated) => {
            if (scope.may.secret) setSecret(rotated)
            say(t('endpoint.rotated'))
          }}
        />
      )}
    </Panel>
  )
}

function Rotate({
  path,
  onClose,
  onDone,
}: {
  readonly path: string
  readonly onClose: () => void
  readonly onDone: (secret: EndpointSecret) => void
}) {
  const [overlap, setOverlap] = useState('86400')
  const { busy, error, start } = useAction()
  return (
    <Dialog title={t('endpoint.rotate.title')} onClose={onClose}>
      <p>{t('endpoint.rotate.text')}</p>
      <Field label={t('endpoint.rotate.overlap')}>
        {(attributes) => (
          <select {...attributes} value={overlap} onChange={(event) => setOverlap(event.currentTarget.value)}>
            <option value="604800">{t('endpoint.rotate.week')}</option>
            <option value="86400">{t('endpoint.rotate.day')}</option>
            <option value="3600">{t('endpoint.rotate.hour')}</option>
            <option value="0">{t('endpoint.rotate.now')}</option>
          </select>
        )}
      </Field>
      {error && (
        <p class="note note-bad" role="alert">
          {error.message}
        </p>
      )}
      <div class="actions">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <button
          type="button"
          class="primary"
          disabled={busy}
          onClick={() =>
            start(async () => {
              const body = { overlap_seconds: Number(overlap) }
              onDone(await ask<EndpointSecret>(`${path}/rotate`, { method: 'POST', body }))
              onClose()
            })
          }
        >
          {t('endpoint.rotate')}
        </button>
      </div>
    </Dialog>
  )
}
