import { useState } from 'preact/hooks'

import { ask, segment } from '../kit/ask.ts'
import { Dialog, useAction } from '../kit/dialog.tsx'
import { duration } from '../kit/figures.tsx'
import { Field, FormError } from '../kit/form.tsx'
import type { Scope } from '../kit/scope.ts'
import { say } from '../kit/toast.tsx'
import type { Attempt, EventType } from '../kit/types.ts'
import { t, tOf } from '../texts.ts'

/** Sends a sample event to one endpoint, and tells what the endpoint answered. */
export function TestEvent({
  scope,
  endpoint,
  types,
  onClose,
  onDone,
}: {
  readonly scope: Scope
  readonly endpoint: string
  readonly types: readonly EventType[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const [type, setType] = useState(types[0]?.event_type ?? 'posthorn.test')
  const { busy, error, start } = useAction()
  const send = (event: Event) => {
    event.preventDefault()
    start(async () => {
      const example = types.find(({ event_type }) => event_type === type)?.example
      const body = { event_type: type, ...(example !== undefined && example !== null && { data: example }) }
      const attempt = await ask<Attempt>(`${scope.api}/endpoints/${segment(endpoint)}/test`, { method: 'POST', body })
      tell(attempt)
      onDone()
      onClose()
    })
  }
  return (
    <Dialog title={t('endpoint.test.title')} onClose={onClose}>
      <form onSubmit={send}>
        <Field label={t('event.type')} place="event_type" error={error}>
          {(attributes) => (
            <>
              <input
                {...attributes}
                required
                value={type}
                list="test-types"
                autoComplete="off"
                onInput={(event) => setType(event.currentTarget.value)}
              />
              <datalist id="test-types">
                {types.map(({ event_type }) => (
                  <option key={event_type} value={event_type} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <FormError error={error} places={['event_type']} />
        <div class="actions">
          <button type="button" onClick={onClose}>
            {t('action.cancel')}
          </button>
          <button type="submit" class="primary" disabled={busy}>
            {t('endpoint.test')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function tell({ status, response, error_message, error_code }: Attempt): void {
  if (status === 'SUCCESSFUL' && response !== null) {
    say(t('endpoint.test.ok', { status: response.status, latency: duration(response.latency) }))
    return
  }
  const reason = response === null ? (error_message ?? tOf('error', error_code ?? 'UNKNOWN')) : String(response.status)
  say(t('endpoint.test.failed', { reason }), 'bad')
}
