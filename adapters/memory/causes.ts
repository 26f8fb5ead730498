import type { Cause, Causes } from '../../src/contracts/storage/causes.ts'
import type { Access, State } from './state.ts'

export function memoryCauses(access: Access): Causes {
  return {
    add: (causes) => access.write((state) => addCauses(state, causes)),
    list: ({ kind, after, limit }) =>
      access.read((state) =>
        [...state.causes.values()]
          .filter((cause) => cause.kind === kind && (after === null || cause.id > after))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, limit),
      ),
    remove: (causes) =>
      access.write((state) => {
        for (const cause of causes) state.causes.delete(keyOf(cause))
      }),
  }
}

/** Causes that exist already stay as they are. */
export function addCauses(state: State, causes: readonly Cause[]): void {
  for (const cause of causes) if (!state.causes.has(keyOf(cause))) state.causes.set(keyOf(cause), { ...cause })
}

function keyOf({ kind, id }: Pick<Cause, 'kind' | 'id'>): string {
  return `${kind} ${id}`
}
