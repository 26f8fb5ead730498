import { useId } from 'preact/hooks'

import type { AskError } from '../kit/ask.ts'
import { Field } from '../kit/form.tsx'
import type { EventType } from '../kit/types.ts'
import { t } from '../texts.ts'

/** The type of an event that is made by hand: a type of the catalogue, or any other. */
export function TypeField({
  value,
  types,
  error,
  onChange,
}: {
  readonly value: string
  readonly types: readonly EventType[]
  readonly error: AskError | undefined
  readonly onChange: (value: string) => void
}) {
  const known = useId()
  return (
    <Field label={t('event.type')} place="event_type" error={error}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            required
            value={value}
            list={known}
            autoComplete="off"
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          <datalist id={known}>
            {types.map(({ event_type }) => (
              <option key={event_type} value={event_type} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
