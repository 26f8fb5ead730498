import { createPosthorn, definePlugin, type Posthorn } from 'posthorn'
import * as v from 'valibot'

import { timeText } from './clock-text.ts'
import { UsageError } from './failure.ts'
import { cut, type Terminal } from './terminal.ts'

/** In seconds after the try before: a receiver that is restarted is back within these waits. */
const tries = [0, 1, 2, 5, 10, 30, 60]

/**
 * Sends the text that the local event wraps: the data of the original event may be any JSON, while a published event
 * must hold an object.
 */
const unwrap = definePlugin({
  name: 'unwrap',
  sides: ['outbound'],
  config: v.object({}),
  prepare: () => ({
    outbound: (request) => ({ ...request, body: (JSON.parse(request.body ?? '{}') as { text: string }).text }),
  }),
})

/**
 * An instance in memory whose only endpoint is the local url. So headers, signatures and retries are those of every
 * delivery.
 */
export async function forwarder(
  terminal: Terminal,
  { url, secret, json }: { url: string; secret: string; json: boolean },
): Promise<Posthorn> {
  const logger = { debug() {}, info() {}, warn: terminal.note, error: terminal.note }
  const local = createPosthorn({ deliver: { deny: [] }, plugins: [unwrap], logger })
  const { id } = await local.endpoints
    .create('default', { request: { url }, events: ['*'], retry: { config: { attempts: tries } } })
    .catch(() => {
      throw new UsageError('--forward-to must be an http or https url')
    })
  await local.plugins.create('default', { name: 'unwrap', endpoint_id: id })
  await local.plugins
    .create('default', { name: 'standard-webhooks', endpoint_id: id, config: { secrets: [secret] } })
    .catch(() => {
      throw new UsageError('--secret must be whsec_ followed by base64 of 24 to 64 bytes')
    })
  local.on('attempt', ({ attempt }) => {
    if (json) return terminal.json(attempt)
    const { response, error_message, event_id, attempt_number } = attempt
    const outcome =
      response === null ? (error_message ?? attempt.status) : `${response.status} in ${response.latency} ms`
    const text = cut(
      `${timeText(attempt.updated_at)}  ${event_id}  try ${attempt_number}  ${outcome}`,
      terminal.columns,
    )
    terminal.line(terminal.paint(attempt.status === 'SUCCESSFUL' ? 'green' : 'red', text))
  })
  await local.start()
  return local
}
