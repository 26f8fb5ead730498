import type { Loaded } from './load.ts'
import { Panel } from './layout.tsx'
import { Empty, Shown } from './states.tsx'
import { type Page, Pager, Table, type TableProps } from './table.tsx'

interface ListedProps<Row> extends Omit<TableProps<Row>, 'rows' | 'keyOf'> {
  readonly of: Loaded<Page<Row>>
  /** Lines of the placeholder. */
  readonly bones?: number
  /** What to say where the list has no row. */
  readonly none: { readonly title: string; readonly hint?: string }
}

/** A page of a list: the rows, with links to the pages beside this page. */
export function Listed<Row extends { readonly id: string }>({ of, bones, none, ...table }: ListedProps<Row>) {
  return (
    <Panel>
      <Shown of={of} {...(bones !== undefined && { rows: bones })}>
        {({ data, next, prev }) =>
          data.length === 0 ? (
            <Empty {...none} />
          ) : (
            <>
              <Table {...table} rows={data} keyOf={({ id }) => id} />
              <Pager next={next} prev={prev} />
            </>
          )
        }
      </Shown>
    </Panel>
  )
}
