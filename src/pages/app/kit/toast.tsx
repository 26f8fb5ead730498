import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

const shown = signal<{ readonly text: ComponentChildren; readonly tone: 'good' | 'bad' } | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** Tells for a while what was done. */
export function say(text: ComponentChildren, tone: 'good' | 'bad' = 'good'): void {
  shown.value = { text, tone }
  clearTimeout(timer)
  timer = setTimeout(() => (shown.value = null), 6000)
}

export function Toast() {
  return (
    <div class="toast-place" role="status" aria-live="polite">
      {shown.value && <div class={`toast toast-${shown.value.tone}`}>{shown.value.text}</div>}
    </div>
  )
}
