import { signal } from '@preact/signals'

import { t } from '../texts.ts'

const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1000)

const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clockFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dayFormat = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const countFormat = new Intl.NumberFormat()
const shortFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'always', style: 'short' })

const dayMs = 86_400_000

/** A moment: how long ago, or the date where that is long. The exact moment stands in the title. */
export function Time({ at, exact = false }: { readonly at: number | null; readonly exact?: boolean }) {
  if (at === null) return <span class="dim">–</span>
  const moment = new Date(at)
  const text = exact ? clockFormat.format(moment) : relative(at, now.value)
  return (
    <time dateTime={moment.toISOString()} title={`${exactFormat.format(moment)}.${String(at % 1000).padStart(3, '0')}`}>
      {text}
    </time>
  )
}

/** A moment to come; a moment that has passed is shown as due. */
export function Due({ at }: { readonly at: number | null }) {
  return at !== null && at <= now.value ? <>{t('delivery.due')}</> : <Time at={at} />
}

function relative(at: number, from: number): string {
  const ms = at - from
  const size = Math.abs(ms)
  if (size < 5000) return t(ms > 0 ? 'time.soon' : 'time.now')
  if (size < 60_000) return relativeFormat.format(Math.round(ms / 1000), 'second')
  if (size < 3_600_000) return relativeFormat.format(Math.round(ms / 60_000), 'minute')
  if (size < dayMs) return relativeFormat.format(Math.round(ms / 3_600_000), 'hour')
  return dayFormat.format(new Date(at))
}

/** Milliseconds for people: `8 ms`, `1.2 s`, `3 min`. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${trimmed(ms / 1000)} s`
  if (ms < 3_600_000) return `${trimmed(ms / 60_000)} min`
  if (ms < dayMs) return `${trimmed(ms / 3_600_000)} h`
  return `${trimmed(ms / dayMs)} d`
}

function trimmed(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : String(Math.round(value))
}

export function count(value: number): string {
  return value < 100_000 ? countFormat.format(value) : shortFormat.format(value)
}

export function percent(share: number | null): string {
  if (share === null) return '–'
  if (share === 1 || share === 0) return `${share * 100} %`
  const value = share * 100
  // Nothing is rounded up to all.
  return `${Math.min(Math.round(value * 10) / 10, 99.9)} %`
}

export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  return size < 1_000_000 ? `${trimmed(size / 1000)} kB` : `${trimmed(size / 1_000_000)} MB`
}
