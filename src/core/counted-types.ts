/** Where further event types of a workspace are counted once it has `maxTypes` of them. */
export const otherTypes = '*'
export const maxTypes = 1000

/**
 * Names the type under which an event type of a place is counted. `known` holds the types of each place; the function
 * adds new types to it.
 */
export function typeNamer(known: Map<string, Set<string>>): (place: string, type: string) => string {
  return (place, type) => {
    let types = known.get(place)
    if (types === undefined) known.set(place, (types = new Set()))
    if (types.has(type)) return type
    if (types.size >= maxTypes) return otherTypes
    types.add(type)
    return type
  }
}
