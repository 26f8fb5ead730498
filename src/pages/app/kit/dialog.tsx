import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { t } from '../texts.ts'
import { AskError } from './ask.ts'

/** A dialog over the page. Escape closes it, and the keyboard stays inside. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const isClosed = useRef(false)
  useEffect(() => {
    const { current } = element
    if (current !== null && !current.open) current.showModal()
  }, [])
  const closed = () => {
    if (!isClosed.current) onClose()
    isClosed.current = true
  }
  const cancel = (event: Event) => {
    const { current } = element
    if (current === null || event.target !== current) return // a field for files tells of `cancel` too
    event.preventDefault()
    current.close() // gives the focus back
    closed() // the browser tells it later, and a key that is pressed until then would open nothing
  }
  return (
    <dialog ref={element} aria-label={title} onCancel={cancel} onClose={closed}>
      <h2>{title}</h2>
      {children}
    </dialog>
  )
}

/** Asks before something is done. A `word` that is given must be typed. */
export function Confirm({
  title,
  text,
  action,
  danger = true,
  disabled = false,
  word,
  run,
  onClose,
}: {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly word?: string
  readonly run: () => Promise<unknown>
  readonly onClose: () => void
}) {
  const [typed, setTyped] = useState('')
  const { busy, error, start } = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    start(async () => {
      await run()
      onClose()
    })
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{text}</p>
        {word !== undefined && (
          <input
            aria-label={word}
            value={typed}
            autoComplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {error && (
          <p class="note note-bad" role="alert">
            {error.message}
          </p>
        )}
        <DialogEnd
          action={action}
          disabled={busy || disabled || (word !== undefined && typed !== word)}
          danger={danger}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

/** The end of a form in a dialog: the way back, and the button that sends the form. */
export function DialogEnd({
  action,
  disabled,
  danger = false,
  onClose,
}: {
  readonly action: string
  readonly disabled: boolean
  readonly danger?: boolean
  readonly onClose: () => void
}) {
  return (
    <div class="actions">
      <button type="button" onClick={onClose}>
        {t('action.cancel')}
      </button>
      <button type="submit" class={danger ? 'danger' : 'primary'} disabled={disabled}>
        {action}
      </button>
    </div>
  )
}

/** Something that is done once at a time, and the error it ended with. */
export function useAction() {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<AskError>()
  const start = (run: () => Promise<unknown>): void => {
    if (busy) return
    setBusy(true)
    setError(undefined)
    run()
      .catch((cause: unknown) => {
        setError(cause instanceof AskError ? cause : new AskError(0, 'This did not work.'))
      })
      .finally(() => setBusy(false))
  }
  return { busy, error, start }
}
