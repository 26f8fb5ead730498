import { useState } from 'preact/hooks'

import { t } from '../texts.ts'

/** Copies a text. */
export function Copy({
  text,
  label = t('action.copy'),
  quiet = false,
}: {
  readonly text: string
  readonly label?: string
  readonly quiet?: boolean
}) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <button type="button" class={quiet ? 'quiet' : ''} onClick={() => void copy().catch(() => setDone(false))}>
      {done ? t('action.copied') : label}
    </button>
  )
}

/** An id, with a button to copy it. */
export function Id({ of }: { readonly of: string }) {
  return <span class="id">{of}</span>
}
