import { deserialize, serialize } from 'node:v8'

const headBytes = 4
/** No answer of ours comes near. A process that announces more is not to fill the memory of the host. */
const maxBytes = 16 * 1024 * 1024

/** A message as it goes through a pipe: its length, then itself. `childProgram` reads and writes the same. */
export function frameOf(message: unknown): Buffer {
  const body = serialize(message)
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32LE(body.length)
  return Buffer.concat([head, body])
}

/** Puts the messages of a pipe together from the pieces in which they come. @throws Error for a message that is too long */
export function frameReader(take: (message: unknown) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = []
  let length = 0
  let due = headBytes

  return (piece) => {
    pieces.push(piece)
    length += piece.length
    while (length >= due) {
      const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      const end = headBytes + bytes.readUInt32LE()
      if (end > maxBytes) throw new Error('the process announced a message that is too long')
      pieces = [bytes]
      due = end
      if (length < end) return
      const rest = bytes.subarray(end)
      pieces = rest.length === 0 ? [] : [rest]
      length = rest.length
      due = headBytes
      take(deserialize(bytes.subarray(headBytes, end)))
    }
  }
}
