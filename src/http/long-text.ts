import { joinBytes } from '../core/encoding.ts'

const encoder = new TextEncoder()
const partLength = 65_536

/** A text that is put together bit by bit, and that is encoded meanwhile when it is long. */
export class LongText {
  readonly #parts: Uint8Array[] = []
  #last = ''

  add(text: string): void {
    this.#last += text
    if (this.#last.length < partLength) return
    this.#parts.push(encoder.encode(this.#last))
    this.#last = ''
  }

  body(): string | Uint8Array<ArrayBuffer> {
    if (this.#parts.length === 0) return this.#last
    return joinBytes(...this.#parts, encoder.encode(this.#last))
  }
}
