import { isPattern } from './pattern.ts'
import type { Work } from './work.ts'

/** Looks at a text; what does more than a few looks at each character pays for it. */
export type TextFormat = (text: string, work: Work) => boolean

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= (month === 2 && !leap ? 28 : (monthDays[month - 1] ?? 0))
}

function isTime(text: string): boolean {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text)
  if (match === null) return false
  const [hour, minute, second] = match.slice(1, 4).map(Number) as [number, number, number]
  const offsetHours = Number(match[5] ?? 0)
  const offsetMinutes = Number(match[6] ?? 0)
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return false
  if (second < 60) return true
  // A leap second is the last of a day in UTC.
  const offset = (offsetHours * 60 + offsetMinutes) * (match[4] === '-' ? -1 : 1)
  return (hour * 60 + minute - offset + 2880) % 1440 === 1439
}

function isHostname(text: string): boolean {
  if (text.length > 253) return false
  return text.split('.').every((label) => label.length <= 63 && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i.test(label))
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

function isIpv6(text: string): boolean {
  if (!/^[0-9a-f:.]{2,45}$/i.test(text)) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  let count = groups.length
  const last = groups.at(-1)
  if (last?.includes('.') === true) {
    if (!isIpv4(last) || text.endsWith('::')) return false
    groups.pop()
    count++
  }
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count <= 7 : count === 8)
}

function isEmail(text: string, isHost: (host: string) => boolean): boolean {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const host = text.slice(at + 1)
  if (at < 1 || local.length > 64) return false
  if (!/^(?:[^\s"(),.:;<>@[\\\]]+(?:\.[^\s"(),.:;<>@[\\\]]+)*|"(?:[^"\\]|\\.)*")$/u.test(local)) return false
  if (!host.startsWith('[')) return isHost(host)
  const literal = /^\[(IPv6:)?(.*)\]$/is.exec(host)
  return literal !== null && (literal[1] === undefined ? isIpv4 : isIpv6)(literal[2] ?? '')
}

/** RFC 3986, or with `anyScript` RFC 3987: legal characters and whole escapes, and what `URL` can read where it is absolute. */
function isUri(text: string, { absolute, anyScript }: { absolute: boolean; anyScript: boolean }): boolean {
  if (/[\s"<>\\^`{|}]|%(?![0-9a-f]{2})/i.test(text) || /#.*#/.test(text)) return false
  if (!anyScript && !/^[\x21-\x7e]*$/.test(text)) return false
  const [, scheme, rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/is.exec(text) ?? []
  if (scheme === undefined && (absolute || /^[^/?#]*:/.test(text))) return false
  const authority = /^\/\/([^/?#]*)/.exec(rest)?.[1]
  if (authority === undefined) return !/[[\]]/.test(rest.split('#', 1)[0] ?? '')
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (/[[\]]/.test(authority.slice(0, authority.length - host.length))) return false
  const match = /^(?:\[([^\]]*)\]|[^[\]:]*)(?::\d*)?$/.exec(host)
  return match !== null && (match[1] === undefined || isIpv6(match[1]))
}

function isDuration(text: string): boolean {
  return (
    /^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/.test(text) &&
    !/^P$|T$/.test(text) &&
    !/Y\d+D|H\d+S/.test(text)
  )
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function isDateTime(text: string): boolean {
  return /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

function isAnyHostname(text: string): boolean {
  return (
    text.length <= 253 &&
    text !== '' &&
    text.split(/[.。．｡]/u).every((label) => /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u.test(label))
  )
}

/** The formats that are checked, each in time that grows with the text and no faster. Others describe, and refuse nothing. */
export const textFormats: Readonly<Record<string, TextFormat>> = {
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  duration: isDuration,
  email: (text) => isEmail(text, isHostname) && /^[\x20-\x7e]*$/.test(text),
  'idn-email': (text) => isEmail(text, isAnyHostname),
  hostname: isHostname,
  'idn-hostname': isAnyHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: (text) => isUri(text, { absolute: true, anyScript: false }),
  'uri-reference': (text) => isUri(text, { absolute: false, anyScript: false }),
  iri: (text) => isUri(text, { absolute: true, anyScript: true }),
  'iri-reference': (text) => isUri(text, { absolute: false, anyScript: true }),
  'uri-template': (text) =>
    /^(?:[^{}\s"'<>\\^`|%]|%[0-9a-f]{2}|\{[+#./;?&=,!@|]?[\w.%]+(?::[1-9]\d{0,3}|\*)?(?:,[\w.%]+(?::[1-9]\d{0,3}|\*)?)*\})*$/i.test(
      text,
    ),
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  'json-pointer': (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  'relative-json-pointer': (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text),
  byte: (text) => base64.test(text),
  regex: isPattern,
}

/** Formats of numbers, from OpenAPI. */
export const numberFormats: Readonly<Record<string, (value: number) => boolean>> = {
  int32: (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31,
  int64: (value) => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63,
}
