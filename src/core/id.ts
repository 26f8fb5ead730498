const alphabet = new TextEncoder().encode('0123456789ABCDEFGHJKMNPQRSTVWXYZ')
const decoder = new TextDecoder()
const timeDigits = 10
const randomDigits = 16

/**
 * Makes ids in the form of a ULID (ulid/spec): 48 bits of time and 80 of randomness in 26 characters that sort
 * bytewise. Within one millisecond, or when time steps back, the next id is the last id plus 1, so the ids of one maker
 * ascend strictly.
 */
export function idMaker(now: () => number, randomBytes: (length: number) => Uint8Array): () => string {
  let time = -1
  const digits = new Uint8Array(timeDigits + randomDigits)
  const text = new Uint8Array(digits.length)

  return () => {
    const at = now()
    if (at > time) {
      time = at
      writeTime(digits, at)
      digits.set(
        randomBytes(randomDigits).map((byte) => byte & 31),
        timeDigits,
      )
      digits[timeDigits]! &= 15 // room to count upwards
    } else {
      increment(digits)
    }
    for (let i = 0; i < digits.length; i++) text[i] = alphabet[digits[i]!]!
    // In one go: a text made by adding characters is a chain of texts until it is read.
    return decoder.decode(text)
  }
}

function writeTime(digits: Uint8Array, ms: number): void {
  let rest = ms
  for (let i = timeDigits - 1; i >= 0; i--) {
    digits[i] = rest % 32
    rest = Math.floor(rest / 32)
  }
}

function increment(digits: Uint8Array): void {
  for (let i = digits.length - 1; i >= timeDigits; i--) {
    if (digits[i]! < 31) {
      digits[i]!++
      return
    }
    digits[i] = 0
  }
}

const digitOf: ReadonlyMap<string, number> = new Map(
  Array.from(decoder.decode(alphabet), (letter, digit) => [letter, digit]),
)
const latestTime = 2 ** 48 - 1

/** The time at which an id of ours was made, unix milliseconds; null for a text that is no such id. */
export function timeOfId(id: string): number | null {
  if (id.length !== timeDigits + randomDigits) return null
  let time = 0
  for (let i = 0; i < timeDigits; i++) {
    const digit = digitOf.get(id[i]!)
    if (digit === undefined) return null
    time = time * 32 + digit
  }
  return time
}

/** How our ids of this time begin. The text sorts before all of these ids, and after all earlier ids. */
export function timePrefix(time: number): string {
  const digits = new Uint8Array(timeDigits)
  writeTime(digits, Math.max(0, Math.min(latestTime, time)))
  return decoder.decode(digits.map((digit) => alphabet[digit]!))
}
