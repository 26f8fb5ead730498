import type { ComponentChildren } from 'preact'

import { t } from '../texts.ts'
import { go, parameters, place } from './router.tsx'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand at the right. */
  readonly number?: boolean
  /** From which width on the column is shown. Default: always. */
  readonly from?: 'mid' | 'wide'
  /** The column that gives room: texts in it are cut. */
  readonly grows?: boolean
}

export interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Where a click on the row leads. The first cell holds the link that the keyboard finds. */
  readonly to?: (row: Row) => string
  readonly selected?: ReadonlySet<string>
  readonly onSelect?: (selected: ReadonlySet<string>) => void
  readonly nameOf?: (row: Row) => string
}

function classOf<Row>({ number, from, grows }: Column<Row>): string {
  return [number && 'number', from && `from-${from}`, grows && 'grows'].filter(Boolean).join(' ')
}

export function Table<Row>({ label, columns, rows, keyOf, to, selected, onSelect, nameOf = keyOf }: TableProps<Row>) {
  const toggle = (key: string) => {
    const next = new Set(selected)
    if (!next.delete(key)) next.add(key)
    onSelect?.(next)
  }
  const open = (event: MouseEvent, row: Row) => {
    const isControl = (event.target as Element).closest('a, button, input, label') !== null
    if (to === undefined || isControl || String(getSelection()) !== '') return
    go(to(row))
  }
  return (
    <div class="table-frame">
      <table aria-label={label}>
        <thead>
          <tr>
            {onSelect && (
              <th class="pick">
                <input
                  type="checkbox"
                  aria-label={t('table.selectAll')}
                  checked={rows.length > 0 && rows.every((row) => selected?.has(keyOf(row)))}
                  onChange={(event) => onSelect(new Set(event.currentTarget.checked ? rows.map(keyOf) : []))}
                />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={to === undefined ? '' : 'opens'} onClick={(event) => open(event, row)}>
              {onSelect && (
                <td class="pick">
                  <input
                    type="checkbox"
                    aria-label={t('table.select', { name: nameOf(row) })}
                    checked={selected?.has(keyOf(row)) ?? false}
                    onChange={() => toggle(keyOf(row))}
                  />
                </td>
              )}
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A page of a list, as the server answers it. */
export interface Page<Row> {
  readonly data: readonly Row[]
  readonly next: string | null
  readonly prev: string | null
}

/** Leads to the pages beside a page. Cursors stand in the address, so that a page can be sent to somebody. */
export function Pager({ next, prev }: Pick<Page<unknown>, 'next' | 'prev'>) {
  const cursor = (link: string | null, name: string) =>
    link === null ? null : new URL(link, location.origin).searchParams.get(name)
  const older = cursor(next, 'after')
  const newer = cursor(prev, 'before')
  if (older === null && newer === null) return null
  const move = (changes: Readonly<Record<string, string | null>>) => {
    const search = new URLSearchParams(parameters.value)
    search.delete('after')
    search.delete('before')
    for (const [name, value] of Object.entries(changes)) if (value !== null) search.set(name, value)
    go(`${place.value.path}?${search.toString()}`)
    scrollTo(0, 0)
  }
  return (
    <nav class="pager" aria-label={t('table.rows')}>
      <button type="button" disabled={newer === null} onClick={() => move({ before: newer })}>
        {t('action.newer')}
      </button>
      <button type="button" disabled={older === null} onClick={() => move({ after: older })}>
        {t('action.older')}
      </button>
    </nav>
  )
}

/** The cursor of the address as parameters of a list. */
export function cursorOfPlace(): { readonly after: string | null; readonly before: string | null } {
  return { after: parameters.value.get('after'), before: parameters.value.get('before') }
}
