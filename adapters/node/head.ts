import { LRUCache } from 'lru-cache'

import { recordHeaders } from '../../src/core/capture.ts'

/** The headers of an answer. They are never changed: answers may share a head. */
export class Head {
  /** Names and values in turn, bytes read as latin1. */
  readonly raw: readonly string[]
  #recorded: Readonly<Record<string, string>> | null = null
  #maxBytes = 0

  constructor(raw: readonly string[]) {
    this.raw = raw
  }

  /** The headers as they are recorded, see `recordHeaders`. */
  recorded(maxBytes: number): Readonly<Record<string, string>> {
    if (this.#recorded === null || this.#maxBytes !== maxBytes) {
      this.#recorded = recordHeaders(decoded(this.raw), { maxBytes })
      this.#maxBytes = maxBytes
    }
    return this.#recorded
  }
}

export const noHead = new Head([])

/**
 * Reads heads. A receiver sends the same headers with each answer, but for the date, which changes once a second. So most
 * heads are equal to the head before, which is answered again: nothing is read, judged and kept a second time.
 */
class HeadReader {
  #last = noHead

  read(bytes: readonly Buffer[]): Head {
    const { raw } = this.#last
    if (bytes.length === raw.length && bytes.every((text, i) => isText(text, raw[i]!))) return this.#last
    return (this.#last = new Head(bytes.map((text) => text.toString('latin1'))))
  }
}

/** The reader of each origin, which all connections to the origin share. */
export function headReaders(): (origin: string) => HeadReader {
  const readers = new LRUCache<string, HeadReader>({ max: 1000 })
  return (origin) => {
    const reader = readers.get(origin) ?? new HeadReader()
    readers.set(origin, reader)
    return reader
  }
}

function isText(bytes: Buffer, text: string): boolean {
  if (bytes.length !== text.length) return false
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== text.charCodeAt(i)) return false
  return true
}

const beyondAscii = /[\x80-\xff]/

/** Names and values in turn. Heads are read as latin1; values of today are UTF-8 where they are not ASCII. */
function decoded(raw: readonly string[]): readonly string[] {
  return raw.some((text) => beyondAscii.test(text))
    ? raw.map((text, i) => (i % 2 === 0 ? text : Buffer.from(text, 'latin1').toString()))
    : raw
}
