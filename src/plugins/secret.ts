import type { Platform } from '../contracts/platform.ts'
import { equalText } from '../core/constant-time.ts'
import { bytesOf, bytesOfHeader, hexOf } from '../core/encoding.ts'

/**
 * A check whether given bytes are the secret, whose time tells neither where they differ nor how long the secret is:
 * HMACs of both under a key of this process are compared instead of them.
 */
export async function secretCheck(
  secret: string,
  platform: Platform,
): Promise<(given: Uint8Array) => Promise<boolean>> {
  const key = platform.randomBytes(32)
  const expected = hexOf(await platform.hmac('sha-256', key, bytesOf(secret)))
  return async (given) => equalText(expected, hexOf(await platform.hmac('sha-256', key, given)))
}

/** The same for the value of a header, which may be missing. */
export async function headerSecretCheck(
  secret: string,
  platform: Platform,
): Promise<(given: string | null) => Promise<boolean>> {
  const matches = await secretCheck(secret, platform)
  return async (given) => given !== null && (await matches(bytesOfHeader(given)))
}
