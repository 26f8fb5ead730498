import { inSlices } from '../runtime/slices.ts'
import type { PageOf } from '../surface/lists.ts'
import { LongText } from './long-text.ts'
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
