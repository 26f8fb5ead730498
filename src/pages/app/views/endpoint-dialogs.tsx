import { ask, segment } from '../kit/ask.ts'
import { Confirm } from '../kit/dialog.tsx'
import { go } from '../kit/router.tsx'
import type { Scope } from '../kit/scope.ts'
import type { EventType } from '../kit/types.ts'
import { t } from '../texts.ts'
import { Recover } from './recover.tsx'
import { TestEvent } from './test-event.tsx'

/**
 * What a page of an endpoint asks in a dialog. `since`: when the endpoint was turned off, where the dialog may offer
 * that time as a start.
 */
export type Asked = { readonly kind: 'delete' | 'test' } | { readonly kind: 'recover'; readonly since?: number } | null

export function EndpointDialogs({
  asked,
  scope,
  endpoint,
  types,
  onClose,
  onDone,
}: {
  readonly asked: Asked
  readonly scope: Scope
  readonly endpoint: string
  readonly types: readonly EventType[]
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  if (asked === null) return null
  if (asked.kind === 'test') {
    return <TestEvent scope={scope} endpoint={endpoint} types={types} onClose={onClose} onDone={onDone} />
  }
  if (asked.kind === 'recover') {
    const missedSince = asked.since === undefined ? {} : { missedSince: asked.since }
    return <Recover scope={scope} endpoint={endpoint} {...missedSince} onClose={onClose} onDone={onDone} />
  }
  return (
    <Confirm
      title={t('endpoint.delete.title')}
      text={t('endpoint.delete.text')}
      action={t('action.delete')}
      run={async () => {
        await ask(`${scope.api}/endpoints/${segment(endpoint)}`, { method: 'DELETE' })
        go(`${scope.path}/endpoints`)
      }}
      onClose={onClose}
    />
  )
}
