/**
 * Runs inside, before any function does, and makes the globals; what it answers begins a run. Of the globals `host` alone
 * reaches out, with strings, numbers and ArrayBuffers. What the prelude uses of the language it takes hold of first, since
 * the function may redefine anything: the prelude never looks up a method by name, spreads no array and reads no iterator.
 * The host checks all that it is given nevertheless.
 *
 * Each run begins from the same memory, so chance comes from outside; `chance` is sfc32.
 */
export const prelude = `(function (host) {
  'use strict'
  const { parse, stringify } = JSON, { apply, getPrototypeOf } = Reflect
  const { hasOwn, keys, getOwnPropertyDescriptor, assign } = Object
  const { isArray } = Array, { isInteger } = Number
  const ThisPromise = Promise, Bytes = Uint8Array, Buffer = ArrayBuffer, Text = String, Fault = Error, Wrong = TypeError
  const toNumber = Number, lower = Text.prototype.toLowerCase, slice = Text.prototype.slice
  const bufferOf = getOwnPropertyDescriptor(getPrototypeOf(Bytes.prototype), 'buffer').get
  const sizeOf = getOwnPropertyDescriptor(Buffer.prototype, 'byteLength').get
  const maxBytes = 1024 * 1024

  let subject, given, changed, body
  let s0, s1, s2, s3
  const chance = () => {
    const mixed = (s0 + s1 + s3) | 0
    s3 = (s3 + 1) | 0
    s0 = s1 ^ (s1 >>> 9)
    s1 = (s2 + (s2 << 3)) | 0
    s2 = (((s2 << 21) | (s2 >>> 11)) + mixed) | 0
    return mixed >>> 0
  }
  Math.random = { random() { return (chance() * 0x200000 + (chance() >>> 11)) / 0x20000000000000 } }.random

  const bounded = (buffer) => {
    if (apply(sizeOf, buffer, []) > maxBytes) throw new Wrong('at most 1 MiB of bytes are allowed')
    return buffer
  }
  const plain = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof Buffer) return bounded(value)
    if (value instanceof Bytes) return bounded(apply(bufferOf, new Bytes(value), []))
    if (!isArray(value)) throw new Wrong('a string or bytes are due')
    const size = value.length
    if (!(size <= maxBytes)) throw new Wrong('at most 1 MiB of bytes are allowed')
    const buffer = new Buffer(size), bytes = new Bytes(buffer)
    for (let at = 0; at < size; at++) {
      const byte = value[at]
      if (!isInteger(byte) || byte < 0 || byte > 255) throw new Wrong('a byte is an integer of 0 to 255')
      bytes[at] = byte
    }
    return buffer
  }
  // Strings go out as JSON texts: the engine cuts others at U+0000. Of a string, stringify asks nothing of the function.
  const data = (value) => { const own = plain(value); return typeof own === 'string' ? stringify(own) : own }
  const orEmpty = (value) => data(value === null || value === undefined ? '' : value)
  const bodyOf = (value) => (typeof value === 'string' ? value : value === undefined ? '' : stringify(value) ?? '')
  const shown = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof Fault) return Text(value)
    try { return stringify(value) ?? Text(value) } catch { return Text(value) }
  }
  const log = (level) => (...values) => {
    let text = ''
    for (let at = 0; at < values.length; at++) text += (at === 0 ? '' : ' ') + shown(values[at])
    host('log', stringify(level), stringify(apply(slice, text, [0, 1000])))
  }
  const request = {
    getHost: () => subject.host,
    getMethod: () => subject.method,
    getPath: () => subject.path,
    getHeaders: () => assign({}, given, changed),
    getHeader: (name) => {
      const key = apply(lower, Text(name), [])
      return hasOwn(changed, key) ? changed[key] : hasOwn(given, key) ? given[key] : null
    },
    getBody: () => body,
    setBody: (value) => {
      if (subject.body === null) throw new Wrong('a ' + subject.method + ' request carries no body')
      const text = bodyOf(value)
      host('body', stringify(text))
      body = text
    },
  }
  const setHeader = (name, value) => {
    const key = apply(lower, Text(name), []), text = Text(value)
    host('header', stringify(key), stringify(text))
    changed[key] = text
  }
  globalThis.webhookx = {
    request,
    response: {
      exit: (status = 200, headers = {}, body = '') => {
        const names = keys(headers ?? {}), text = bodyOf(body)
        for (let at = 0; at < names.length; at++) {
          const value = headers[names[at]]
          if (value === null || value === undefined) continue
          if (typeof value === 'object') throw new Wrong('headers are strings')
          host('exit header', stringify(names[at]), stringify(Text(value)))
        }
        host('exit', toNumber(status), stringify(text), typeof body === 'string')
      },
    },
    utils: {
      hmac: (algorithm, key, value) => new Bytes(host('hmac', stringify(Text(algorithm)), data(key), data(value))),
      encode: (encoding, value) => host('encode', stringify(Text(encoding)), data(value)),
      timingSafeEqual: (one, other) => host('equal', orEmpty(one), orEmpty(other)),
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  }
  globalThis.console = { log: log('info'), debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const end = (result) => {
    if (result instanceof ThisPromise) throw new Wrong('handle() must not be async')
  }
  return (subjectText, seedsText) => {
    subject = parse(subjectText)
    given = subject.headers
    changed = assign({}, null)
    body = subject.body
    if (subject.side === 'outbound') request.setHeader = setHeader
    const seeds = parse(seedsText)
    s0 = seeds[0], s1 = seeds[1], s2 = seeds[2], s3 = seeds[3]
    return end
  }
})`
