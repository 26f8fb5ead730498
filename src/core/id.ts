const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const randomDigits = 16

/**
 * Makes ids in the form of a ULID (ulid/spec): 48 bits of time and 80 of randomness in 26 characters that sort bytewise.
 * Within one millisecond, or when time steps back, an id is the one before plus one, so the ids of one maker ascend strictly.
 */
export function idMaker(now: () => number, randomBytes: (length: number) => Uint8Array): () => string {
  let time = -1
  let prefix = ''
  let digits = new Uint8Array(randomDigits)

  return () => {
    const at = now()
    if (at > time) {
      time = at
      prefix = timeText(at)
      digits = randomBytes(randomDigits).map((byte) => byte & 31)
      digits[0]! &= 15 // room to count upwards
    } else {
      increment(digits)
    }
    let id = prefix
    for (const digit of digits) id += alphabet[digit]
    return id
  }
}

function timeText(ms: number): string {
  let text = ''
  let rest = ms
  for (let i = 0; i < 10; i++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

function increment(digits: Uint8Array): void {
  for (let i = digits.length - 1; i >= 0; i--) {
    if (digits[i]! < 31) {
      digits[i]!++
      return
    }
    digits[i] = 0
  }
}
