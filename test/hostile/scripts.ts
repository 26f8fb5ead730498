import type { Random } from './random.ts'

/** Objects whose members a script redefines, as expressions inside the sandbox. */
export const owners = [
  'Array',
  'Array.prototype',
  'ArrayBuffer',
  'ArrayBuffer.prototype',
  'Boolean.prototype',
  'Error',
  'Error.prototype',
  'Function.prototype',
  'globalThis',
  'JSON',
  'Map.prototype',
  'Math',
  'Number',
  'Number.prototype',
  'Object',
  'Object.prototype',
  'Object.getPrototypeOf(Uint8Array)',
  'Object.getPrototypeOf(Uint8Array.prototype)',
  'Object.getPrototypeOf([][Symbol.iterator]())',
  'Promise',
  'Promise.prototype',
  'Proxy',
  'Reflect',
  'RegExp.prototype',
  'Set.prototype',
  'String',
  'String.prototype',
  'Symbol',
  'Symbol.prototype',
  'TypeError.prototype',
  'Uint8Array',
  'Uint8Array.prototype',
  'webhookx',
  'webhookx.request',
  'webhookx.utils',
  'console',
]

/** What a redefined member answers. */
const answers = [
  '({ length: 2e9 })',
  '({ length: -1 })',
  '({ length: NaN, 0: 1 })',
  '2e9',
  'NaN',
  'undefined',
  'null',
  '"x".repeat(1e6)',
  '[]',
  'new Array(1e7)',
  'new Proxy([], { get: (_, key) => (key === "length" ? 2e9 : 7) })',
  '{ toJSON: () => "x".repeat(2e6) }',
  '(() => { throw null })()',
  '(() => { throw "x".repeat(2e6) })()',
  '(function again() { return again() + 1 })()',
  '(() => { for (;;); })()',
]

/** Values that the functions of the host are called with. */
const values = [
  'undefined',
  'null',
  'NaN',
  '-0',
  '2 ** 53',
  '10n ** 100n',
  'Symbol("s")',
  '""',
  '"\\0\\ud800"',
  '"x".repeat(3e6)',
  '"\\u0000".repeat(1e6)',
  '[]',
  '[1, 2, 256]',
  '[-1]',
  '[0.5]',
  '["1"]',
  '[[1]]',
  'new Array(2 ** 32 - 1)',
  'Array(1.1e6).fill(7)',
  'Object.assign([], { length: 1e9 })',
  '({ length: 1e9 })',
  'new Uint8Array(1 << 20)',
  'new Uint8Array(5e6)',
  'new Uint32Array([2 ** 32 - 1])',
  'new DataView(new ArrayBuffer(8))',
  'new ArrayBuffer(0)',
  'new ArrayBuffer(4e6)',
  'Object.create(Uint8Array.prototype)',
  'Object.create(null)',
  'new Proxy([], { get: (_, key) => (key === "length" ? 1e9 : 7) })',
  'new Proxy(new Uint8Array(8), {})',
  'new Proxy({}, { ownKeys: () => { throw 1 } })',
  'new Proxy(function () {}, { apply: () => { for (;;); } })',
  '({ toString: () => "x".repeat(2e6), valueOf: () => 2e9 })',
  '({ [Symbol.toPrimitive]: () => { for (;;); } })',
  '({ toJSON() { return this } })',
  '({ get a() { throw new Error("\\n\\u001b[2J") } })',
  'Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => ["h" + i, "v".repeat(100)]))',
  '(() => { let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; return deep })()',
  '(() => { const ring = {}; ring.ring = ring; return ring })()',
  'globalThis',
  'webhookx',
  '() => {}',
  'new Error("e")',
  'Object.assign(new Error("e"), { stack: "function.js:1:1".repeat(1e5), message: { length: 1e9 } })',
  'Promise.resolve()',
  '/x/g',
  'new Date(NaN)',
]

const calls = [
  'webhookx.request.getHeader(A)',
  'webhookx.request.getHeaders(A)',
  'webhookx.request.getBody(A)',
  'webhookx.request.setBody(A)',
  'webhookx.request.setHeader(A, B)',
  'webhookx.response.exit(A, B, C)',
  'webhookx.response.exit(200, A, B)',
  'webhookx.response.exit(200, {}, A)',
  'webhookx.utils.hmac(A, B, C)',
  'webhookx.utils.hmac("SHA-256", A, B)',
  'webhookx.utils.encode(A, B)',
  'webhookx.utils.encode("hex", A)',
  'webhookx.utils.encode("base64url", A)',
  'webhookx.utils.timingSafeEqual(A, B)',
  'webhookx.log.error(A, B)',
  'console.log(A, B, C)',
]

const loops = [
  'for (;;);',
  'for (;;) try { for (;;); } catch {}',
  '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'const all = []; for (;;) all.push(new Array(1e4).fill(1))',
  'const all = []; for (;;) all.push(new Uint8Array(1e6))',
  '/^(a+)+$/.test("a".repeat(60) + "b")',
  'eval("(".repeat(200000))',
  'throw { get message() { for (;;); } }',
]

/** A script that redefines a member of an intrinsic, or each of its members in turn, and then calls what the host gives. */
export function redefining(owner: string, random: Random): string {
  const answer = random.pick(answers)
  const use = Array.from({ length: 1 + random.below(4) }, () => call(random)).join('\n')
  const only = random.below(3) === 0 ? -1 : random.below(40)
  return `function handle() {
    const owner = ${owner}, { ownKeys, defineProperty } = Reflect, keys = ownKeys(owner)
    for (let at = 0; at < keys.length; at++) {
      if (${only} !== -1 && at !== ${only} % keys.length) continue
      try { defineProperty(owner, keys[at], { ${random.pick([
        `value: () => ${answer}`,
        `get: () => ${answer}`,
        `get: () => () => ${answer}`,
      ])}, configurable: true }) } catch {}
    }
    ${use}
  }`
}

function call(random: Random): string {
  const filled = random.pick(calls).replace(/[ABC](?=[,)])/g, () => random.pick(values))
  return `try { ${filled} } catch (error) { ${random.pick(['', 'webhookx.log.warn(error)', 'throw error'])} }`
}

/** Every intrinsic in turn, with calls of hostile values and loops between. */
export function* hostileScripts(random: Random): Generator<string> {
  for (;;) {
    for (const owner of owners) {
      yield redefining(owner, random)
      yield `function handle() { ${Array.from({ length: 1 + random.below(6) }, () => call(random)).join('\n')} }`
      if (random.below(6) === 0) yield `function handle() { ${random.pick(loops)} }`
    }
  }
}
