/**
 * Whether two texts are equal, in time that tells nothing but their lengths: for signatures, whose length is no secret.
 */
export function equalText(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i)
  return difference === 0
}
