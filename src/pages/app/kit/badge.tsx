import { tOf } from '../texts.ts'

const tones: Readonly<Record<string, string>> = {
  DELIVERED: 'good',
  SUCCESSFUL: 'good',
  FAILED: 'bad',
  RETRYING: 'warn',
  CANCELED: 'dim',
  PENDING: 'info',
  INIT: 'info',
  QUEUED: 'info',
}

/** A status: a word with a colour beside it. */
export function Status({ of }: { readonly of: string }) {
  return <span class={`badge tone-${tones[of] ?? 'dim'}`}>{tOf('status', of)}</span>
}

export function Badge({
  tone,
  children,
}: {
  readonly tone: 'good' | 'bad' | 'warn' | 'info' | 'dim'
  readonly children: string
}) {
  return <span class={`badge tone-${tone}`}>{children}</span>
}

/** The status of an answer: 200 in green, 500 in red. */
export function Answer({ status, error }: { readonly status: number | null; readonly error: string | null }) {
  if (status !== null) {
    const tone = status < 300 ? 'good' : status < 400 ? 'warn' : 'bad'
    return <span class={`code-number ink-${tone}`}>{status}</span>
  }
  return error === null ? <span class="dim">–</span> : <span class="ink-bad">{tOf('error', error)}</span>
}
