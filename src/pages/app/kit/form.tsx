import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

import { t } from '../texts.ts'
import { type AskError, reasons } from './ask.ts'
import { Link } from './router.tsx'

interface FieldProps {
  readonly label: string
  readonly hint?: string
  /** Where the server tells an error of the field: `request.url`. */
  readonly place?: string
  readonly error?: AskError | undefined
  readonly children: (attributes: {
    readonly id: string
    readonly 'aria-describedby'?: string
    readonly 'aria-invalid'?: 'true'
  }) => ComponentChildren
}

/** A labelled field with a hint and the reason why its value was refused. */
export function Field({ label, hint, place, error, children }: FieldProps) {
  const id = useId()
  const own =
    place === undefined ? [] : reasons(error?.fields).filter(([at]) => at === place || at.startsWith(`${place}.`))
  const refused = own.length > 0
  const described = [hint !== undefined && `${id}-hint`, refused && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class={refused ? 'field field-bad' : 'field'}>
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(refused && { 'aria-invalid': 'true' as const }),
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {refused && (
        <p class="reason" id={`${id}-error`}>
          {own.map(([at, reason]) => (at === place ? reason : `${at.slice(place!.length + 1)}: ${reason}`)).join('; ')}
        </p>
      )}
    </div>
  )
}

/** What was refused as a whole, or at a place that no field shows. */
export function FormError({
  error,
  places,
}: {
  readonly error: AskError | undefined
  readonly places: readonly string[]
}) {
  if (error === undefined) return null
  const others = reasons(error.fields).filter(
    ([at]) => !places.some((place) => at === place || at.startsWith(`${place}.`)),
  )
  return (
    <div class="note note-bad" role="alert">
      {error.message}
      {others.map(([at, reason]) => (
        <div key={at}>
          {at}: {reason}
        </div>
      ))}
    </div>
  )
}

export function Check({
  label,
  checked,
  onChange,
}: {
  readonly label: string
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  )
}

export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [Value, string])[]
  readonly onChange: (value: Value) => void
}) {
  return (
    <label class="inline-field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The end of a form: the button that sends it, and the way back. */
export function FormEnd({
  busy,
  isNew,
  back,
}: {
  readonly busy: boolean
  readonly isNew: boolean
  readonly back: string
}) {
  return (
    <div class="actions form-end">
      <button type="submit" class="primary" disabled={busy}>
        {t(isNew ? 'action.create' : 'action.save')}
      </button>
      <Link to={back} class="button">
        {t('action.cancel')}
      </Link>
    </div>
  )
}

/** Lines of `name: value` as an object; null where no line has this form. */
export function pairsOf(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return null
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return colon === -1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}

export function linesOfPairs(pairs: Readonly<Record<string, string>> | null): string {
  return Object.entries(pairs ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
