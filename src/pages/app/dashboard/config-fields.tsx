import { useState } from 'preact/hooks'

import type { AskError } from '../kit/ask.ts'
import { Check, Field, linesOf } from '../kit/form.tsx'
import { t } from '../texts.ts'

/** JSON Schema of a config, as far as forms understand it. */
export interface ConfigSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, ConfigSchema>>
  readonly required?: readonly string[]
  readonly items?: ConfigSchema
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ConfigSchema[]
  readonly description?: string
}

export type Config = Readonly<Record<string, unknown>>

interface FieldsProps {
  readonly schema: ConfigSchema
  readonly value: Config
  /** Where the server tells errors. */
  readonly place: string
  readonly error: AskError | undefined
  readonly onChange: (value: Config) => void
}

/** A field for each property of a plugin's config. What no field can show is written as JSON. */
export function ConfigFields({ schema, value, place, error, onChange }: FieldsProps) {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0) {
    return (
      <JsonField
        name={t('plugin.config')}
        value={value}
        place={place}
        error={error}
        onChange={(next) => onChange((next ?? {}) as Config)}
      />
    )
  }
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined ? rest : { ...rest, [name]: next })
  }
  return (
    <>
      {properties.map(([name, each]) => (
        <Property
          key={name}
          name={name}
          schema={each}
          value={value[name]}
          place={`${place}.${name}`}
          error={error}
          onChange={(next) => set(name, next)}
        />
      ))}
    </>
  )
}

interface PropertyProps {
  readonly name: string
  readonly schema: ConfigSchema
  readonly value: unknown
  readonly place: string
  readonly error: AskError | undefined
  readonly onChange: (value: unknown) => void
}

function Property(props: PropertyProps) {
  const { name, schema: given, value, place, error, onChange } = props
  const schema = given.anyOf?.find(({ type }) => type !== 'null') ?? given
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.find((each) => each !== 'null')
  const label = wordsOf(name)
  const hint = given.description === undefined ? {} : { hint: given.description }
  if (schema.enum !== undefined && schema.enum.every((each) => typeof each === 'string')) {
    return (
      <Field label={label} {...hint} place={place} error={error}>
        {(attributes) => (
          <select
            {...attributes}
            value={typeof value === 'string' ? value : ''}
            onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
          >
            <option value="">–</option>
            {schema.enum?.map((each) => (
              <option key={String(each)}>{String(each)}</option>
            ))}
          </select>
        )}
      </Field>
    )
  }
  if (type === 'boolean') return <Check label={label} checked={value === true} onChange={onChange} />
  if (type === 'string' || type === 'integer' || type === 'number') {
    return (
      <Field label={label} {...hint} place={place} error={error}>
        {(attributes) => (
          <input
            {...attributes}
            autoComplete="off"
            spellcheck={false}
            value={typeof value === 'string' || typeof value === 'number' ? value : ''}
            onInput={(event) => {
              const text = event.currentTarget.value
              onChange(text === '' ? undefined : type === 'string' || Number.isNaN(Number(text)) ? text : Number(text))
            }}
          />
        )}
      </Field>
    )
  }
  if (type === 'array' && (schema.items?.type === 'string' || schema.items?.enum !== undefined) && isTexts(value)) {
    return (
      <Field label={label} {...hint} place={place} error={error}>
        {(attributes) => (
          <textarea
            {...attributes}
            value={(value ?? []).join('\n')}
            onInput={(event) =>
              onChange(event.currentTarget.value === '' ? undefined : linesOf(event.currentTarget.value))
            }
          />
        )}
      </Field>
    )
  }
  return <JsonField name={label} value={value} place={place} error={error} onChange={onChange} />
}

function isTexts(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every((each) => typeof each === 'string'))
}

/** JSON in a text, which counts once it can be read. */
function JsonField({ name, value, place, error, onChange }: Omit<PropertyProps, 'schema'>) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const write = (next: string, element: HTMLTextAreaElement) => {
    setText(next)
    element.setCustomValidity('')
    if (next.trim() === '') return onChange(undefined)
    try {
      onChange(JSON.parse(next))
    } catch {
      element.setCustomValidity(t('plugin.config.wrong'))
    }
  }
  return (
    <Field label={name} hint={t('plugin.config.json')} place={place} error={error}>
      {(attributes) => (
        <textarea
          {...attributes}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => write(currentTarget.value, currentTarget)}
        />
      )}
    </Field>
  )
}

/** `signing_secret` as words. */
function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
