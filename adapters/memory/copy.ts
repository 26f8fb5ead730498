/** A deep copy of a row, which is plain data as JSON has it. Takes half the time of `structuredClone`. */
export function copyOf<Value>(value: Value): Value {
  return copy(value) as Value // a copy has the type of what it copies
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const made: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    // A plain assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(made, key, { ...ownMember, value: copy(member) })
    else made[key] = copy(member)
  }
  return made
}

const ownMember = { configurable: true, enumerable: true, writable: true }
