import { PosthornError } from '../../errors.ts'
import { checkedBase } from '../mount.ts'
import type { Texts } from '../app/english/index.ts'

/** What customers may do beside looking. Default: all of it. */
export interface PortalAllowances {
  /** Add endpoints. */
  readonly create: boolean
  /** Change url, description, events, and turn endpoints on and off. */
  readonly edit: boolean
  /** Delete endpoints. */
  readonly delete: boolean
  /** See and set headers of their own. */
  readonly headers: boolean
  /** See the signing secret. */
  readonly secret: boolean
  /** Replace the signing secret by a new secret. */
  readonly rotate: boolean
  /** Send test events. */
  readonly test: boolean
  /** Send once more what failed, and recover what was missed. */
  readonly replay: boolean
}

export interface PortalBrand {
  /** Stands at the head of the page. Default `Webhooks`. */
  readonly name?: string
  /** An image: a `data:image/` URL, or a path of the portal's own origin. */
  readonly logo?: string
  /** A colour such as `#0b6bcb`, which buttons and links have. */
  readonly accent?: string
}

export interface PortalOptions {
  /** The path prefix the handler is mounted under, such as `/webhooks`. Default ''. */
  readonly basePath?: string
  /** Signs the tokens: at least 32 characters. Of two the first signs and both open, so that a secret can be replaced. */
  readonly secret: string | readonly [string, string]
  /** The origin under which browsers reach the portal, such as `https://app.example`. Default: links begin with `basePath`. */
  readonly origin?: string
  /** Origins that may show the portal in a frame. Default: none. */
  readonly frameAncestors?: readonly string[]
  /** Name, logo and colour of the page. Default: none of yours. */
  readonly brand?: PortalBrand
  /** What customers may do beside looking. Default: all of it. */
  readonly allow?: Partial<PortalAllowances>
  /** The most endpoints that a customer may have. The lowest of all limits counts. */
  readonly limits?: { readonly endpoints?: number }
  /** Refuses `http:` URLs. Default: as `deliver.httpsOnly`. */
  readonly httpsOnly?: boolean
  /**
   * Whether deliveries to endpoints made here have the body `{ type, timestamp, data }` of Standard Webhooks, and not the data
   * alone. Default: true, unless `deliver.sign` says how deliveries are signed; then false, as those.
   */
  readonly envelope?: boolean
  /**
   * Texts in place of the English texts, such as `{ 'action.save': 'Speichern' }`; `{name}` is filled in. Default:
   * none.
   */
  readonly texts?: Texts
}

/** Options that were checked, complete. */
export interface PortalSettings {
  readonly basePath: string
  readonly secrets: readonly string[]
  readonly origin: string
  readonly frameAncestors: readonly string[]
  readonly brand: PortalBrand
  readonly allow: PortalAllowances
  readonly maxEndpoints: number | null
  readonly httpsOnly: boolean
  /** Null: as `deliver.sign` says. */
  readonly envelope: boolean | null
  readonly texts: Texts | undefined
}

const everything: PortalAllowances = {
  create: true,
  edit: true,
  delete: true,
  headers: true,
  secret: true,
  rotate: true,
  test: true,
  replay: true,
}
const minSecretLength = 32

/** @throws PosthornError `validation` that names the option at fault. */
export function portalSettings(options: PortalOptions): PortalSettings {
  const {
    secret,
    origin = '',
    frameAncestors = [],
    brand = {},
    allow = {},
    limits = {},
    httpsOnly = false,
    envelope = null,
    texts,
  } = options
  const secrets = typeof secret === 'string' ? [secret] : [...((secret as readonly string[] | undefined) ?? [])]
  if (secrets.length < 1 || secrets.length > 2) throw wrong('secret', 'one or two secrets are required')
  if (secrets.some((each) => typeof each !== 'string' || each.length < minSecretLength)) {
    throw wrong('secret', `minimum string length is ${minSecretLength}`)
  }
  if (origin !== '' && !isOrigin(origin)) throw wrong('origin', 'value must be an origin such as https://app.example')
  const strange = frameAncestors.find((each) => !isOrigin(each))
  if (strange !== undefined) throw wrong('frameAncestors', `${strange} is no origin such as https://app.example`)
  const unknown = Object.keys(allow).find((name) => !Object.hasOwn(everything, name))
  if (unknown !== undefined) throw wrong('allow', `${unknown} is none of ${Object.keys(everything).join(', ')}`)
  const maxEndpoints = limits.endpoints ?? null
  if (maxEndpoints !== null && !(Number.isSafeInteger(maxEndpoints) && maxEndpoints >= 0)) {
    throw wrong('limits.endpoints', 'value must be a whole number from 0')
  }
  checkBrand(brand)
  return {
    basePath: checkedBase(options.basePath ?? '', 'portal'),
    secrets,
    origin,
    frameAncestors,
    brand,
    allow: { ...everything, ...allow },
    maxEndpoints,
    httpsOnly,
    envelope,
    texts,
  }
}

function checkBrand({ logo, accent }: PortalBrand): void {
  if (logo !== undefined && !/^(data:image\/[a-z+.-]+[;,]|\/(?!\/))/.test(logo)) {
    throw wrong('brand.logo', 'value must be a data:image/ URL, or a path of the same origin: pages ask nobody else')
  }
  if (accent !== undefined && !/^#[0-9a-f]{6}$/i.test(accent)) {
    throw wrong('brand.accent', 'value must be a colour such as #0b6bcb')
  }
}

function isOrigin(value: string): boolean {
  return /^https?:\/\/[^/?#;,\s'"]+$/i.test(value) && URL.canParse(value)
}

function wrong(option: string, reason: string): PosthornError {
  return new PosthornError('validation', `portal: ${option}: ${reason}`)
}
