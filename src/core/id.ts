const alphabet = new TextEncoder().encode('0123456789ABCDEFGHJKMNPQRSTVWXYZ')
const decoder = new TextDecoder()
const timeDigits = 10
const randomDigits = 16

/**
 * Makes ids in the form of a ULID (ulid/spec): 48 bits of time and 80 of randomness in 26 characters that sort bytewise.
 * Within one millisecond, or when time steps back, an id is the one before plus one, so the ids of one maker ascend strictly.
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
