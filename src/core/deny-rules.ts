import ipaddr from 'ipaddr.js'

import { PosthornError } from '../errors.ts'
import { type Address, type GroupName, type Network, groupNames, isIn, isInGroup } from './address-groups.ts'

/** What the rules say of a host before a lookup of its name. `by_address`: each address of the host is to be judged. */
export type HostVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'by_address' }

/** Says where nothing may be sent. Every refusal is a sentence that names the rule. */
export interface DenyRules {
  /** Judges a host as `URL.hostname` has it: a literal address for good, a name as far as rules of names go. */
  judgeHost(hostname: string): HostVerdict
  /** Why nothing may be sent to this address, or null. What is no address is refused. */
  judgeAddress(address: string): string | null
  /** True when there is no rule at all. */
  readonly permitsAll: boolean
}

interface Rule {
  readonly text: string
  matchesHost(name: string): boolean
  matchesAddress(form: Address, inner: Address): boolean
}

const allowed: HostVerdict = { kind: 'allowed' }
const byAddress: HostVerdict = { kind: 'by_address' }

/**
 * A judge of the rules of `deliver.deny`, from which `allow` lists exceptions. A rule is an IP address, a CIDR, a
 * hostname, `*.suffix` (every name below it, not the suffix itself) or a group: `@private`, `@loopback`, `@linklocal`,
 * `@reserved`, `@metadata` (inner services of cloud providers), `@default` (all five). An exception for another group
 * does not open `@metadata`. An address that holds an IPv4 address (`::ffff:0:0/96`, `64:ff9b::/96`, `2002::/16`) is
 * judged by the IPv4 address. An allowed hostname may have any address.
 * @throws PosthornError `validation` that names the rule at fault.
 */
export function denyRules({
  deny,
  allow,
}: {
  readonly deny: readonly string[]
  readonly allow: readonly string[]
}): DenyRules {
  const denials = deny.flatMap((text) => parseRule(text, 'deny'))
  const exceptions = allow.flatMap((text) => parseRule(text, 'allow'))

  function judge(address: Address | null, shown: string): string | null {
    if (denials.length === 0) return null
    if (address === null) return `${shown} is not an address`
    const inner = innermost(address)
    if (exceptions.some((rule) => rule.matchesAddress(address, inner))) return null
    const rule = denials.find((rule) => rule.matchesAddress(address, inner))
    return rule === undefined ? null : `address ${shown} is denied by ${rule.text}`
  }

  function judgeName(name: string): HostVerdict {
    if (exceptions.some((rule) => rule.matchesHost(name))) return allowed
    const rule = denials.find((rule) => rule.matchesHost(name))
    if (rule !== undefined) return { kind: 'denied', message: `host ${name} is denied by ${rule.text}` }
    // These names mean the machine itself wherever they are looked up (RFC 6761).
    if (name === 'localhost' || name.endsWith('.localhost')) {
      const denial = judge(ipaddr.parse('127.0.0.1'), '127.0.0.1')
      if (denial !== null && judge(ipaddr.parse('::1'), '::1') !== null) {
        return { kind: 'denied', message: `host ${name} is denied: ${denial}` }
      }
    }
    return byAddress
  }

  return {
    judgeHost(hostname) {
      if (denials.length === 0) return allowed
      const host = canonicalHost(hostname)
      if (host === null) return { kind: 'denied', message: 'the host is neither an address nor a name' }
      const address = literal(host)
      if (address === null) return judgeName(host)
      const denial = judge(address, address.toString())
      return denial === null ? allowed : { kind: 'denied', message: denial }
    },
    judgeAddress(text) {
      const host = canonicalHost(text.replace(/%.*$/s, '')) // a zone says which interface, not which address
      return judge(host === null ? null : literal(host), text)
    },
    permitsAll: denials.length === 0,
  }
}

function parseRule(text: string, list: 'deny' | 'allow'): readonly Rule[] {
  const ruleOf = list === 'deny' ? groupRule : groupException
  if (text === '@default') return groupNames.map(ruleOf)
  if (text.startsWith('@')) {
    const group = groupNames.find((name) => name === text)
    if (group !== undefined) return [ruleOf(group)]
  } else if (text.includes('/') || text.includes(':') || /^[\d.]+$/.test(text)) {
    const network = parseNetwork(text)
    if (network !== null) return [networkRule(text, network)]
  } else {
    const name = canonicalHost(text.startsWith('*.') ? text.slice(2) : text)
    const isName = name !== null && literal(name) === null && /^[a-z\d_-]+(\.[a-z\d_-]+)*$/.test(name)
    if (isName) return [nameRule(text, name)]
  }
  throw new PosthornError(
    'validation',
    `${list}: ${JSON.stringify(text)} is not an IP address, a CIDR, a hostname, "*.suffix" or one of ${groupNames.join(', ')}, @default`,
  )
}

function groupRule(group: GroupName): Rule {
  return {
    text: group,
    matchesHost: () => false,
    matchesAddress: (_form, inner) => isInGroup(inner, group),
  }
}

/** Who opens the private network does not mean the service in it that hands out credentials. */
function groupException(group: GroupName): Rule {
  return {
    ...groupRule(group),
    matchesAddress: (_form, inner) =>
      isInGroup(inner, group) && (group === '@metadata' || !isInGroup(inner, '@metadata')),
  }
}

function networkRule(text: string, network: Network): Rule {
  const list = [network]
  return {
    text,
    matchesHost: () => false,
    matchesAddress: (form, inner) => isIn(inner, list) || (form !== inner && isIn(form, list)),
  }
}

function nameRule(text: string, name: string): Rule {
  const suffix = `.${name}`
  const below = text.startsWith('*.')
  return {
    text,
    matchesHost: (host) => (below ? host.endsWith(suffix) && host.length > suffix.length : host === name),
    matchesAddress: () => false,
  }
}

/** `10.0.0.0/8`, `fd00::/8` or a single address; IPv4 only as four decimal numbers, since `10/8` would mean 0.0.0.10. */
function parseNetwork(text: string): Network | null {
  const [, host = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(host)
  const address = isV4 ? ipaddr.IPv4.parse(host) : host.includes(':') ? literal(canonicalHost(host) ?? '') : null
  if (address === null) return null
  const width = isV4 ? 32 : 128
  const length = bits === undefined ? width : Number(bits)
  if (length > width) return null
  // A mapped rule is about the IPv4 addresses inside.
  if ('parts' in address && length >= 96 && address.match(mapped)) return [innermost(address), length - 96]
  return [address, length]
}

/** A host as every URL parser of the web writes it, without the dot at the end; null when the text is not a host. */
function canonicalHost(text: string): string | null {
  if (/[/?#@\\\s%]/.test(text)) return null
  const isLiteral = text.startsWith('[') && text.endsWith(']')
  try {
    const { hostname } = new URL(`http://${text.includes(':') && !isLiteral ? `[${text}]` : text}/`)
    return hostname.replace(/\.$/, '')
  } catch {
    return null
  }
}

function literal(host: string): Address | null {
  if (host.startsWith('[')) return ipaddr.IPv6.parse(host.slice(1, -1))
  return ipaddr.IPv4.isValidFourPartDecimal(host) ? ipaddr.IPv4.parse(host) : null
}

const mapped = ipaddr.IPv6.parseCIDR('::ffff:0:0/96')
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
const sixToFour = ipaddr.IPv6.parseCIDR('2002::/16')

/** The IPv4 address inside an IPv6 address that reaches it, else the address itself. */
function innermost(address: Address): Address {
  if (!('parts' in address)) return address
  const at = address.match(mapped) || address.match(translated) ? 6 : address.match(sixToFour) ? 1 : null
  if (at === null) return address
  const [high, low] = [address.parts[at]!, address.parts[at + 1]!] // an address has eight parts
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255])
}
