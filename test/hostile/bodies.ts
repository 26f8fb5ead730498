import type { Random } from './random.ts'

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const event = (data: string, more = '') => `{"event_type":"a","data":${data}${more}}`

/** Bodies along the bounds of what the gateway takes, as bytes, and beyond. */
const bodies: readonly ((random: Random) => Uint8Array | string)[] = [
  // 1 MiB to the byte, and one more.
  (random) => event(`"${'x'.repeat(1_048_576 - event('""').length + random.below(2))}"`),
  (random) => event(nested(498 + random.below(4))),
  (random) => '['.repeat(random.size(900_000)),
  (random) => `{"event_type":"${'a'.repeat(254 + random.below(3))}","data":1}`,
  (random) => event('1', `,"unique_id":"${'u'.repeat(49 + random.below(3))}"`),
  (random) => event(`{${Array.from({ length: random.size(60_000) }, (_, i) => `"k${i}":${i}`).join()}}`),
  (random) => event(`{"${'k'.repeat(random.size(900_000))}":1}`),
  (random) => `{${'"data":1,'.repeat(random.size(90_000))}"event_type":"a","data":2}`,
  (random) => event(`"${'\\u0000'.repeat(random.size(100_000))}"`),
  (random) => event(`"${'\\ud800'.repeat(random.size(100_000))}"`),
  (random) => event('1'.repeat(random.size(900_000))),
  (random) => event(`1e${'9'.repeat(random.size(1000))}`),
  (random) => event(`"${'é😀'.repeat(random.size(100_000))}"`),
  (random) => event(`"${'x'.repeat(random.size(900_000))}`),
  (random) => `${' \n'.repeat(random.size(400_000))}${event('1')}`,
  (random) => new Uint8Array(random.size(900_000)).fill(0xff),
  () => '',
  () => 'null',
]

export function hostileBody(random: Random): Uint8Array {
  const body = random.pick(bodies)(random)
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}

/** An event of that many bytes, at least about thirty. */
export function harmlessBody(bytes: number): Uint8Array {
  return new TextEncoder().encode(event(`"${'x'.repeat(Math.min(Math.max(0, bytes - 28), 1_000_000))}"`))
}
