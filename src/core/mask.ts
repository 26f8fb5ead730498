import { readSealed } from './sealed.ts'

/** A secret shows its last four characters only if this many others stay hidden. */
const minHidden = 12
const ellipsis = '…'

/**
 * A secret as reads show it, such as `whsec_…k2Qd`: the prefix and the last four characters, padding of base64 aside. A
 * short secret shows neither. `Basic` credentials show no end, for that would be the end of the password.
 */
export function maskOf(secret: string): string {
  const prefix = /^(?:[A-Za-z]{2,10}_|Basic |Bearer )/i.exec(secret)?.[0] ?? ''
  const rest = Array.from(secret.slice(prefix.length).replace(/={1,2}$/, ''))
  if (rest.length < minHidden + 4) return ellipsis
  return /^basic /i.test(prefix) ? `${prefix}${ellipsis}` : `${prefix}${ellipsis}${rest.slice(-4).join('')}`
}

/** The mask of a sealed value that cannot be opened: `sealed:v1:<key id>:…`. */
export function maskOfSealed(text: string): string {
  return `sealed:v1:${readSealed(text)?.keyId ?? ''}:${ellipsis}`
}

/** Whether a text has the form of a mask. No secret of this form can be written. */
export function isMask(text: string): boolean {
  return /^(?:[A-Za-z]{2,10}_|Basic |Bearer |sealed:v1:[A-Za-z0-9_.-]{1,64}:)?…[^]{0,8}$/i.test(text)
    ? Array.from(text.slice(text.indexOf(ellipsis) + 1)).length <= 4
    : false
}
