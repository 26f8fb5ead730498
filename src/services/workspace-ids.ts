import type { Context } from '../context.ts'
import type { Awaitable } from '../contracts/awaitable.ts'
import { singleFlight } from '../runtime/single-flight.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

/** Storing an event tells whether the workspace still exists, so an id whose configuration is at hand needs no question. */
const askedByStorage: ReadonlySet<string> = new Set(['events.create', 'events.createMany'])

/** Resolves the workspace that a function is called with, at once where it is known. Calls that come side by side ask together. */
export function workspaceIds(ctx: Context): (idOrName: string, operation: string) => Awaitable<string> {
  const asked = singleFlight(async (idOrName) => (await resolveWorkspace(ctx, idOrName)).id)
  return (idOrName, operation) => {
    const known = askedByStorage.has(operation) ? ctx.configuration.held(idOrName) : undefined
    return known?.workspace.id ?? asked.ask(idOrName)
  }
}
