import type { Storage } from '../../../src/contracts/storage.ts'

/** A key of the option `secrets`. */
export function keyNamed(id: string, byte = id.length) {
  return { id, key: Buffer.alloc(32, byte).toString('base64') }
}

export const whsec = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const whsk = `whsk_${Buffer.alloc(32, 5).toString('base64')}`

/** All rows of a workspace as the storage holds them, as text. */
export async function storedText(storage: Storage, workspaceId = 'default'): Promise<string> {
  const { endpoints = [], sources = [], plugins = [] } = (await storage.configuration(workspaceId)) ?? {}
  return JSON.stringify({ endpoints, sources, plugins })
}

/** A KMS: wraps by turning bits over, counts, and can be told to be slow or away. */
export function testProvider() {
  const calls: string[] = []
  const turned = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a)
  let answer: (bytes: Uint8Array, workspace: string) => Promise<Uint8Array> = async (bytes) => turned(bytes)
  const provider = {
    async wrap(bytes: Uint8Array, { workspace }: { readonly workspace: string }) {
      calls.push(`wrap ${workspace}`)
      return await answer(bytes, workspace)
    },
    async unwrap(bytes: Uint8Array, { workspace }: { readonly workspace: string }) {
      calls.push(`unwrap ${workspace}`)
      return await answer(bytes, workspace)
    },
  }
  return {
    provider,
    calls,
    turned,
    answers: (how: typeof answer) => (answer = how),
    works: () => (answer = async (bytes) => turned(bytes)),
  }
}
