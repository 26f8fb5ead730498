import { recordBytes, recordText } from '../core/capture.ts'
import { oneLine } from '../core/one-line.ts'
import type { ErrorBody } from '../errors.ts'
import { refusalText } from './respond.ts'

const maxBytes = 4096
const maxLength = 500

/**
 * What an answer says of why it refused, in one line of at most 500 characters: the message and the fields of an error, else the
 * beginning of the text. Null where it says nothing. Only the first part of the body is read.
 */
export async function reasonOf(answer: Response): Promise<string | null> {
  const own = refusalText(answer)
  const text = own === undefined ? await beginningOf(answer) : recordText(own, maxBytes)
  if (text === null) return null
  return oneLine(ofError(text) ?? text).slice(0, maxLength) || null
}

/** Null for a body that was read already, or that fails. */
async function beginningOf(answer: Response): Promise<string | null> {
  try {
    const reader = answer.clone().body?.getReader()
    const part = await reader?.read()
    void reader?.cancel().catch(() => {})
    return recordBytes(part?.value ?? new Uint8Array(), maxBytes)
  } catch {
    return null
  }
}

function ofError(text: string): string | null {
  try {
    const { message, error } = JSON.parse(text) as Partial<ErrorBody>
    if (typeof message !== 'string') return null
    return error?.fields === undefined ? message : `${message}: ${JSON.stringify(error.fields)}`
  } catch {
    return null // no JSON, or more of it than was read
  }
}
