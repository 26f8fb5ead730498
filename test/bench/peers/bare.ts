import { type Contender, sideBySide } from '../compare.ts'
import { agent, concurrency } from './tools.ts'

// The limits: undici sends and stores nothing.

const headers = { 'content-type': 'application/json', 'user-agent': 'bare' }

/** The documented `request`. */
export const bareRequest: Contender = async ({ url, events, data }) => {
  const dispatcher = agent()
  const { origin, pathname: path } = new URL(url)
  return {
    work: () =>
      sideBySide(events, concurrency, async () => {
        const answer = await dispatcher.request({ origin, path, method: 'POST', headers, body: data })
        await answer.body.text()
      }),
    close: () => dispatcher.close(),
  }
}

/** The lowest public layer, `dispatch` with a handler. */
export const bareDispatch: Contender = async ({ url, events, data }) => {
  const dispatcher = agent()
  const { origin, pathname: path } = new URL(url)
  const send = () =>
    new Promise<string>((resolve, reject) => {
      const chunks: Buffer[] = []
      dispatcher.dispatch(
        { origin, path, method: 'POST', headers, body: data },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData: (_controller, chunk) => void chunks.push(chunk),
          onResponseEnd: () => resolve(Buffer.concat(chunks).toString()),
          onResponseError: (_controller, error) => reject(error),
        },
      )
    })
  return { work: () => sideBySide(events, concurrency, send), close: () => dispatcher.close() }
}
