import { useState } from 'preact/hooks'

import { TypeField } from './type-field.tsx'
import { ask, segment } from '../kit/ask.ts'
import { Dialog, DialogEnd, useAction } from '../kit/dialog.tsx'
import { duration } from '../kit/figures.tsx'
import { FormError } from '../kit/form.tsx'
import type { Scope } from '../kit/scope.ts'
import { say } from '../kit/toast.tsx'
import type { Attempt, EventType } from '../kit/types.ts'
import { t, tOf } from '../texts.ts'

/** Sends a sample event to one endpoint, and shows what the endpoint answered. */
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
        <TypeField value={type} types={types} error={error} onChange={setType} />
        <FormError error={error} places={['event_type']} />
        <DialogEnd action={t('endpoint.test')} disabled={busy} onClose={onClose} />
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
