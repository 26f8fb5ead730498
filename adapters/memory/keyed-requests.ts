import type { KeyedRequest, KeyedRequests, KeyHolder } from '../../src/contracts/storage/keyed-requests.ts'
import type { Access, State } from './state.ts'

export function memoryKeyedRequests(access: Access): KeyedRequests {
  return {
    take: (request, before) =>
      access.write((state) => {
        const found = state.keyedRequests.get(nameOf(request))
        const kept = found === undefined ? request : successor(found, request, before)
        state.keyedRequests.set(nameOf(request), kept)
        return { ...kept }
      }),
    update: ({ lease_until, note, ...holder }) =>
      access.write((state) => {
        const found = heldBy(state, holder)
        if (found !== undefined) state.keyedRequests.set(nameOf(holder), { ...found, lease_until, note })
      }),
    release: (holder) =>
      access.write((state) => {
        if (heldBy(state, holder) !== undefined) state.keyedRequests.delete(nameOf(holder))
      }),
    forget: (before, limit) =>
      access.write((state) => {
        const old = [...state.keyedRequests].filter(([, { begun_at }]) => begun_at < before).slice(0, limit)
        for (const [name] of old) state.keyedRequests.delete(name)
        return old.length
      }),
  }
}

/** What stands under the key of `found` once `request` asked for it. */
function successor(found: KeyedRequest, request: KeyedRequest, before: number): KeyedRequest {
  if (found.begun_at < before) return request
  const isFree = found.lease_until !== null && found.lease_until <= request.begun_at && found.hash === request.hash
  return isFree ? { ...found, token: request.token, lease_until: request.lease_until } : found
}

function heldBy(state: State, holder: KeyHolder): KeyedRequest | undefined {
  const found = state.keyedRequests.get(nameOf(holder))
  return found?.token === holder.token ? found : undefined
}

function nameOf({ workspace_id, key }: Pick<KeyedRequest, 'workspace_id' | 'key'>): string {
  return JSON.stringify([workspace_id, key])
}
