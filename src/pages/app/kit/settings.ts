import type { Texts } from '../english/index.ts'

/** What the server says to the page, in a `meta` element. */
export interface Settings {
  readonly basePath: string
  readonly brand?: { readonly name?: string; readonly logo?: string; readonly accent?: string }
  readonly texts?: Texts
  /** The workspace in which operational events are published, by id or name. */
  readonly operations?: string
}

export const settings = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=posthorn]')?.content ?? '{"basePath":""}',
) as Settings
