import { joinBytes } from '../core/encoding.ts'
import { inSlices } from '../runtime/slices.ts'
import type { PageOf } from '../surface/lists.ts'
import { pageLinks } from './page-links.ts'
import { json } from './respond.ts'
import type { Call } from './route.ts'

/** A page, in cursor mode with the addresses beside it as the client may follow them. Rows may be long: others get a turn. */
export async function pageAnswer(
  { url, clock }: Pick<Call, 'url' | 'clock'>,
  page: PageOf<object>,
  rowJson: (row: unknown) => string,
): Promise<Response> {
  const text = new LongText()
  text.add('total' in page ? `{"total":${page.total},"data":[` : '{"data":[')
  let separator = ''
  await inSlices(clock, page.data, (row) => {
    text.add(separator + rowJson(row))
    separator = ','
  })
  if ('total' in page) text.add(']}')
  else {
    const { next, prev } = pageLinks(url.pathname, url.searchParams, page)
    text.add(`],"next":${JSON.stringify(next)},"prev":${JSON.stringify(prev)}}`)
  }
  return json(200, text.body())
}

const encoder = new TextEncoder()
const partLength = 65_536

/** A text that is put together bit by bit, and that is encoded meanwhile when it is long. */
class LongText {
  readonly #parts: Uint8Array[] = []
  #last = ''

  add(text: string): void {
    this.#last += text
    if (this.#last.length < partLength) return
    this.#parts.push(encoder.encode(this.#last))
    this.#last = ''
  }

  body(): string | Uint8Array<ArrayBuffer> {
    if (this.#parts.length === 0) return this.#last
    return joinBytes(...this.#parts, encoder.encode(this.#last))
  }
}
