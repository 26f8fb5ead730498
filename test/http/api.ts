import { expect } from 'vitest'

import { createPosthorn, type Options } from '../../src/index.ts'

/** A silent logger that remembers what it was told. */
export function memoryLog() {
  const lines: { level: string; message: string; details: unknown }[] = []
  const at = (level: string) => (message: string, details?: unknown) => void lines.push({ level, message, details })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** A fresh instance in memory and its administrative API, asked with plain values. */
export function api(options: Options = {}) {
  const log = memoryLog()
  const posthorn = createPosthorn({ logger: log, ...options })
  const base = `http://admin.test${options.admin?.basePath ?? ''}`

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const request = new Request(`${base}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...sent,
    })
    const response = await posthorn.admin.fetch(request)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : null,
    }
  }

  async function made(path: string, body: unknown): Promise<Answer['body']> {
    const answer = await call('POST', path, body)
    expect(answer, answer.text).toMatchObject({ status: 201 })
    return answer.body
  }

  return { posthorn, log, call, made, base }
}

/** The answer to a body that was refused place by place. */
export function refusal(fields: unknown) {
  return { message: 'Request Validation', error: { message: 'request validation', fields } }
}

export const url = 'https://example.com/hook'
