import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { t, type TextKey } from '../texts.ts'
import { parameters, setParameters } from './router.tsx'

/** Filters stand in the address, so that a list can be sent to somebody. */
export function Filters({
  names,
  children,
}: {
  readonly names: readonly string[]
  readonly children: ComponentChildren
}) {
  const isFiltered = names.some((name) => parameters.value.has(name))
  return (
    <form class="filters" role="search" aria-label={t('filter.label')} onSubmit={(event) => event.preventDefault()}>
      {children}
      {isFiltered && (
        <button type="button" onClick={() => setParameters(Object.fromEntries(names.map((name) => [name, null])))}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  )
}

/** A text that filters once the reader stops typing. */
export function TextFilter({
  name,
  label,
  options,
  pattern,
}: {
  readonly name: string
  readonly label: string
  readonly options?: readonly string[]
  /** What else is typed filters nothing yet. */
  readonly pattern?: string
}) {
  const given = parameters.value.get(name) ?? ''
  const [typed, setTyped] = useState(given)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    clearTimeout(timer.current)
    setTyped(given)
  }, [given])
  const type = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    const isWhole = pattern === undefined || text.trim() === '' || new RegExp(`^${pattern}$`).test(text.trim())
    if (isWhole) timer.current = setTimeout(() => setParameters({ [name]: text.trim() }), 350)
  }
  return (
    <label>
      <span>{label}</span>
      <input
        type="text"
        value={typed}
        spellcheck={false}
        autoComplete="off"
        list={options && `options-${name}`}
        onInput={(event) => type(event.currentTarget.value)}
      />
      {options && (
        <datalist id={`options-${name}`}>
          {options.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </label>
  )
}

export function ChoiceFilter({
  name,
  label,
  options,
}: {
  readonly name: string
  readonly label: string
  readonly options: readonly (readonly [string, string])[]
}) {
  return (
    <label>
      <span>{label}</span>
      <select
        value={parameters.value.get(name) ?? ''}
        onChange={(event) => setParameters({ [name]: event.currentTarget.value })}
      >
        <option value="">{t('filter.any')}</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const ranges: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
}

export function RangeFilter() {
  const options = Object.keys(ranges).map((name) => [name, t(`range.${name}` as TextKey)] as const)
  return <ChoiceFilter name="range" label={t('filter.range')} options={options} />
}

/** The range of the address as a bound of the time, to the minute, so that paging stays in the same list. */
export function since(): number | null {
  const ms = ranges[parameters.value.get('range') ?? '']
  return ms === undefined ? null : Math.floor((Date.now() - ms) / 60_000) * 60_000
}
