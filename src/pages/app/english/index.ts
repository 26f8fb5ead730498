import { catalogue } from './catalogue.ts'
import { configuration } from './configuration.ts'
import { deliveries } from './deliveries.ts'
import { endpoints } from './endpoints.ts'
import { events } from './events.ts'
import { operations } from './operations.ts'
import { overview } from './overview.ts'
import { plugins } from './plugins.ts'
import { portal } from './portal.ts'
import { sources } from './sources.ts'
import { system } from './system.ts'
import { words } from './words.ts'
import { workspaces } from './workspaces.ts'

/** All texts of both pages. The option `texts` gives others by these keys; `{name}` is filled in. */
export const english = {
  ...words,
  ...deliveries,
  ...endpoints,
  ...events,
  ...overview,
  ...operations,
  ...workspaces,
  ...sources,
  ...plugins,
  ...catalogue,
  ...configuration,
  ...system,
  ...portal,
} as const

export type TextKey = keyof typeof english

/** Texts in place of the English texts. */
export type Texts = { readonly [key in TextKey]?: string }
