import { LRUCache } from 'lru-cache'

import type { Clock } from '../../contracts/clock.ts'
import type { KeyProvider } from '../../contracts/key-provider.ts'
import type { Logger } from '../../contracts/observer.ts'
import type { Cipher, Platform } from '../../contracts/platform.ts'
import { base64UrlOf, bytesOf, bytesOfBase64 } from '../../core/encoding.ts'
import { readSealed, type Sealed, sealedText } from '../../core/sealed.ts'
import type { SecretsOptions } from '../../options.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { providerId } from '../../schema/secrets.ts'
import { UnopenedError } from './unopened-error.ts'

/** What a provider's call may take. */
const providerMs = 5000
const maxDataKeys = 10_000
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function missingKey(keyId: string): UnopenedError {
  return new UnopenedError(`a secret is sealed with key '${keyId}', which this process does not have`, true)
}

/** Seals and opens texts with a data key for each workspace, which a key or a provider wraps. */
export interface Vault {
  /** The id of the key that seals. */
  readonly keyId: string
  knows(keyId: string): boolean
  /** `known`: sealed values of the workspace whose data key is used again. They are asked for once. */
  seal(workspaceId: string, bound: Uint8Array, clear: string, known: () => Promise<readonly string[]>): Promise<string>
  /** @throws UnopenedError */
  open(workspaceId: string, bound: Uint8Array, sealed: string): Promise<string>
}

/** A data key with its wrapped form, which stands in each value that the data key seals. */
interface DataKey {
  readonly keyId: string
  readonly wrapped: Uint8Array
  readonly cipher: Cipher
}

interface Needs {
  readonly platform: Platform
  readonly clock: Clock
  /** Where failing calls of a provider are logged, which may come again and again. */
  readonly log: Logger
}

export function vault(needs: Needs, options: SecretsOptions): Vault {
  const wrappers = wrappersOf(needs, options)
  const [keyId] = [...wrappers.keys()] as [string] // at least one key, by the check of the options
  /** Open data keys by workspace and wrapped form. */
  const opened = sharedAnswers<Cipher>()
  /** The data keys that seal, by workspace. */
  const sealing = sharedAnswers<DataKey>()

  async function cipherOf(workspaceId: string, { keyId: id, wrapped }: Omit<Sealed, 'box'>): Promise<Cipher> {
    const wrapper = wrappers.get(id)
    if (wrapper === undefined) throw missingKey(id)
    return await opened(dataKeyName(workspaceId, id, wrapped), async () =>
      needs.platform.cipher(await wrapper.unwrap(wrapped, workspaceId)),
    )
  }

  /**
   * The data key of one of these values; null when the key that seals now has wrapped no data key of them. @throws
   * UnopenedError when it has wrapped some, and none of these opens
   */
  async function knownDataKey(workspaceId: string, texts: readonly string[]): Promise<DataKey | null> {
    let failure: unknown = null
    for (const text of texts) {
      const there = readSealed(text)
      if (there === null || there.keyId !== keyId) continue
      try {
        return { keyId, wrapped: there.wrapped, cipher: await cipherOf(workspaceId, there) }
      } catch (cause) {
        // A single value may be damaged. If no value opens, the key is another key, or the provider is away.
        if (!(cause instanceof UnopenedError && cause.lasts)) throw cause
        failure = cause
      }
    }
    if (failure !== null) throw failure as UnopenedError
    return null
  }

  async function newDataKey(workspaceId: string): Promise<DataKey> {
    const bytes = needs.platform.randomBytes(32)
    const wrapped = await wrappers.get(keyId)!.wrap(bytes, workspaceId) // the key that seals exists
    const cipher = await opened(dataKeyName(workspaceId, keyId, wrapped), () => needs.platform.cipher(bytes))
    return { keyId, wrapped, cipher }
  }

  return {
    keyId,
    knows: (id) => wrappers.has(id),
    async seal(workspaceId, bound, clear, known) {
      const { cipher, ...rest } = await sealing(
        workspaceId,
        async () => (await knownDataKey(workspaceId, await known())) ?? (await newDataKey(workspaceId)),
      )
      return sealedText({ ...rest, box: await cipher.encrypt(bytesOf(clear), bound) })
    },
    async open(workspaceId, bound, text) {
      const sealed = readSealed(text)
      const clear = sealed && (await (await cipherOf(workspaceId, sealed)).decrypt(sealed.box, bound))
      if (clear) return decoder.decode(clear)
      throw new UnopenedError('a sealed secret was made for another place, or is damaged', true)
    },
  }
}

function dataKeyName(workspaceId: string, keyId: string, wrapped: Uint8Array): string {
  return `${workspaceId} ${keyId} ${base64UrlOf(wrapped)}`
}

/** Answers by key, bounded. Callers that ask at the same time share a question; a failure is not remembered. */
function sharedAnswers<Answer extends object>(): (key: string, ask: () => Promise<Answer>) => Promise<Answer> {
  const answers = new LRUCache<string, Promise<Answer>>({ max: maxDataKeys })
  return (key, ask) => {
    const there = answers.get(key)
    if (there !== undefined) return there
    const asked: Promise<Answer> = ask().catch((cause: unknown) => {
      if (answers.peek(key) === asked) answers.delete(key)
      throw cause
    })
    answers.set(key, asked)
    return asked
  }
}

/** Wraps data keys. */
interface Wrapper {
  wrap(bytes: Uint8Array, workspaceId: string): Promise<Uint8Array>
  unwrap(wrapped: Uint8Array, workspaceId: string): Promise<Uint8Array>
}

/** All keys by their ids; the first key seals. */
function wrappersOf(needs: Needs, { keys = [], provider }: SecretsOptions): ReadonlyMap<string, Wrapper> {
  const local = keys.map(({ id, key }): [string, Wrapper] => [id, localWrapper(needs.platform, id, key)])
  if (provider === undefined) return new Map(local)
  return new Map([[provider.id ?? providerId, providerWrapper(needs, provider)], ...local])
}

function localWrapper(platform: Platform, id: string, key: string): Wrapper {
  let making: Promise<Cipher> | undefined
  const cipher = () => (making ??= platform.cipher(bytesOfBase64(key)!)) // the options were checked
  const bound = (workspaceId: string) => bytesOf(JSON.stringify(['data key', id, workspaceId]))
  return {
    wrap: async (bytes, workspaceId) => (await cipher()).encrypt(bytes, bound(workspaceId)),
    async unwrap(wrapped, workspaceId) {
      const bytes = await (await cipher()).decrypt(wrapped, bound(workspaceId))
      if (bytes !== null) return bytes
      const reason = `key '${id}' is not the key that sealed a secret, or the secret was made for another workspace`
      throw new UnopenedError(reason, true)
    },
  }
}

function providerWrapper({ clock, log }: Needs, provider: KeyProvider): Wrapper {
  const ask = async (verb: 'wrap' | 'unwrap', bytes: Uint8Array, workspace: string): Promise<Uint8Array> => {
    try {
      // A provider may throw before it answers a promise.
      const answer = (async () => provider[verb](bytes, { workspace }))()
      const late = () => new Error(`no answer within ${providerMs} ms`)
      const given = new Uint8Array(await withDeadline(clock, providerMs, answer, late))
      if (verb === 'unwrap' ? given.length === 32 : given.length > 0 && given.length < 65_536) return given
      throw new Error(`the answer has ${given.length} bytes`)
    } catch (cause) {
      log.error(`the key provider did not ${verb} the data key of workspace ${workspace}`, { cause })
      throw new UnopenedError(`the key provider did not ${verb} the data key of the workspace`, false)
    }
  }
  return {
    wrap: (bytes, workspaceId) => ask('wrap', bytes, workspaceId),
    unwrap: (wrapped, workspaceId) => ask('unwrap', wrapped, workspaceId),
  }
}
