import type { Reply } from '../contracts/http-client.ts'
import { holdsTexts } from './plugin-answer.ts'

/** Whether an HTTP client of the application answered what it is to answer. `ended` may be left out. */
export function isReply(answer: unknown): answer is Reply {
  if (typeof answer !== 'object' || answer === null) return false
  const { kind, message, status, headers, body } = answer as Readonly<Record<string, unknown>>
  switch (kind) {
    case 'response':
      return Number.isInteger(status) && holdsTexts(headers) && typeof body === 'string'
    case 'timeout':
    case 'denied':
    case 'error':
      return typeof message === 'string'
    default:
      return kind === 'busy' || kind === 'aborted'
  }
}
