/**
 * For runs in the request's own thread: runs inside, before the prelude. At calls and backward jumps of the function
 * the engine asks whether to go on, but not in the engine's native loops. Some of these loops run as often as a number
 * says: an array without elements may have a length of 2 ** 53 - 1. Here such lengths are refused. Two readings of a
 * length must agree, so Proxy is removed, and a length is a plain property.
 */
export const lengthBounds = `(function () {
  'use strict'
  const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect
  const { isArray } = Array, TooLong = RangeError, Wrong = TypeError, Text = String
  const maxItems = 1000000, maxSteps = 100000000, maxNormalized = 10000
  const typed = getPrototypeOf(Uint8Array.prototype)
  const typedLength = getOwnPropertyDescriptor(typed, 'length').get

  const isThing = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'
  const bounded = (value) => {
    if (!isThing(value)) return
    for (let holder = value; holder !== null; holder = getPrototypeOf(holder)) {
      const length = getOwnPropertyDescriptor(holder, 'length')
      if (length === undefined) continue
      if (length.get === typedLength) return
      if (!('value' in length) || isThing(length.value)) throw new Wrong('the length must be a number')
      if (length.value > maxItems) throw new TooLong('at most ' + maxItems + ' items are allowed here')
      return
    }
  }
  const change = (owner, name, make) => {
    const property = getOwnPropertyDescriptor(owner, name)
    if (property === undefined) return
    const before = property.value, method = make(before)
    defineProperty(method, 'name', { value: before.name, configurable: true })
    defineProperty(method, 'length', { value: before.length, configurable: true })
    property.value = method
    defineProperty(owner, name, property)
  }
  const check = (owner, name, checked) =>
    change(owner, name, (before) => ({ method(...values) { checked(this, values); return apply(before, this, values) } }).method)

  delete globalThis.Proxy
  const lists = ownKeys(Array.prototype), iterators = ['constructor', 'keys', 'values', 'entries', 'flat', 'flatMap']
  for (const name of lists) {
    const { value } = getOwnPropertyDescriptor(Array.prototype, name)
    if (typeof name === 'string' && typeof value === 'function' && !iterators.includes(name)) {
      check(Array.prototype, name, (self, values) => {
        bounded(self)
        for (let at = 0; at < values.length; at++) bounded(values[at])
      })
    }
  }
  const add = (into, value) => defineProperty(into, into.length, { value, writable: true, enumerable: true, configurable: true })
  const flatten = (into, from, depth) => {
    bounded(from)
    const length = from.length
    for (let at = 0; at < length; at++) {
      if (!(at in from)) continue
      const item = from[at]
      if (depth > 0 && isArray(item)) flatten(into, item, depth - 1)
      else add(into, item)
    }
    return into
  }
  change(Array.prototype, 'flat', () => ({ flat(depth = 1) { return flatten([], this, +depth || 0) } }).flat)
  change(Array.prototype, 'flatMap', () => ({
    flatMap(map, self) {
      bounded(this)
      const into = [], length = this.length
      for (let at = 0; at < length; at++) {
        if (!(at in this)) continue
        const item = apply(map, self, [this[at], at, this])
        if (isArray(item)) flatten(into, item, 0)
        else add(into, item)
      }
      return into
    },
  }).flatMap)
  for (const name of ['sort', 'toSorted'])
    check(typed, name, (self) => {
      if (apply(typedLength, self, []) > maxItems) throw new TooLong('at most ' + maxItems + ' items are allowed here')
    })
  check(JSON, 'stringify', (self, values) => bounded(values[1]))
  check(String, 'raw', (self, values) => isThing(values[0]) && bounded(values[0].raw))

  // A search for one text in another takes the product of their lengths at worst.
  const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, 'source').get
  const byPattern = {
    split: RegExp.prototype[Symbol.split],
    replace: RegExp.prototype[Symbol.replace],
    replaceAll: RegExp.prototype[Symbol.replace],
  }
  const isPattern = (value) => {
    try { apply(sourceOf, value, []); return true } catch { return false }
  }
  const own = (self) => {
    if (self === null || self === undefined) throw new Wrong('a text is due')
    return Text(self)
  }
  for (const name of ['indexOf', 'lastIndexOf', 'includes', 'split', 'replace', 'replaceAll'])
    change(String.prototype, name, (before) => ({
      method(...values) {
        const self = own(this)
        if (isThing(values[0])) {
          if (byPattern[name] !== undefined && isPattern(values[0])) {
            if (name === 'replaceAll' && !values[0].global) throw new Wrong('replaceAll needs the flag g')
            return apply(byPattern[name], values[0], [self, values[1]])
          }
          values[0] = Text(values[0])
        }
        if (typeof values[0] === 'string' && values[0].length * self.length > maxSteps)
          throw new TooLong('the texts are too long to search')
        return apply(before, self, values)
      },
    }).method)
  // Marks of one letter are put in order by comparing all with all.
  for (const name of ['normalize', 'localeCompare'])
    change(String.prototype, name, (before) => ({
      method(...values) {
        const self = own(this), other = name === 'localeCompare' ? Text(values[0]) : ''
        if (self.length > maxNormalized || other.length > maxNormalized)
          throw new TooLong('at most ' + maxNormalized + ' characters are allowed here')
        if (name === 'localeCompare') values[0] = other
        return apply(before, self, values)
      },
    }).method)
})()`
