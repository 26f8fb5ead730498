import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'

import type { Ending, Line } from './ending.ts'
import { plainText } from './host.ts'

/** What the code inside threw, as texts. */
export class ThrownInside extends Error {
  readonly described: Described

  constructor(thrown: Described) {
    super('thrown inside')
    this.described = thrown
  }
}

interface Described {
  readonly message: string
  readonly text: string
}

const maxErrorLength = 4000

/**
 * Reads the properties of an error one by one, none longer than needed: the whole error might fill the host's memory.
 */
export function described(context: QuickJSContext, thrown: QuickJSHandle): Described {
  const type = context.typeof(thrown)
  // With no memory left for an error, the engine throws null.
  if (type === 'object' && context.sameValue(thrown, context.null)) return { message: 'out of memory', text: '' }
  if (type !== 'object' && type !== 'function') {
    const value =
      type === 'string' ? JSON.stringify(textOf(context, thrown)) : type === 'undefined' ? type : `a ${type}`
    return { message: '', text: type === 'string' ? (textOf(context, thrown) ?? '') : `${value} was thrown` }
  }
  const [name, message, stack] = ['name', 'message', 'stack'].map((key) => {
    try {
      return context.getProp(thrown, key).consume((value) => textOf(context, value))
    } catch {
      return null // a getter of the function that throws
    }
  })
  const place = /function\.js:(\d+):(\d+)/.exec(stack ?? '')
  const what = `${name == null ? '' : `${name}: `}${message ?? 'undefined was thrown'}`
  return {
    message: message ?? '',
    text: what.slice(0, 400) + (place === null ? '' : ` (line ${place[1]}, column ${place[2]})`),
  }
}

/** The text of a string, or null. */
function textOf(context: QuickJSContext, handle: QuickJSHandle): string | null {
  if (context.typeof(handle) !== 'string') return null
  try {
    return plainText(context, handle, maxErrorLength)
  } catch {
    return 'a long text'
  }
}

export function endingOfThrown(thrown: unknown, lines: readonly Line[], late: boolean, isCheck: boolean): Ending {
  if (late) return { kind: 'exceeded', lines, limit: 'time' }
  if (thrown instanceof ThrownInside) {
    const { message, text } = thrown.described
    if (message === 'out of memory') return { kind: 'exceeded', lines, limit: 'memory' }
    if (message === 'stack overflow') return { kind: 'exceeded', lines, limit: 'stack' }
    return isCheck ? { kind: 'syntax', message: text } : { kind: 'thrown', lines, message: text }
  }
  // The engine itself gave up: the engine's parser has no stack check, and an allocation that the host asks for has no
  // error to throw.
  return { kind: 'exceeded', lines, limit: thrown instanceof RangeError ? 'stack' : 'memory' }
}
