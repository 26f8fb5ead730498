import { Agent, request as httpRequest } from 'node:http'

import { Agent as UndiciAgent, request as undiciRequest } from 'undici'

import { type Contender, sideBySide } from '../compare.ts'

// The limit: clients that send and store nothing, each with one time limit over the whole exchange.

const concurrency = 256
const timeoutMs = 10_000
const headers = { 'content-type': 'application/json', 'user-agent': 'bare' }

export const bareUndici: Contender = async ({ url, events, data }) => {
  const dispatcher = new UndiciAgent({ connections: concurrency, pipelining: 1 })
  return {
    work: () =>
      sideBySide(events, concurrency, async () => {
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await undiciRequest(url, { dispatcher, method: 'POST', headers, body: data, signal })
        await answer.body.text()
      }),
    close: () => dispatcher.close(),
  }
}

export const bareHttp: Contender = async ({ url, events, data }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const send = () =>
    new Promise<string>((resolve, reject) => {
      const request = httpRequest(url, { agent, method: 'POST', headers }, (answer) => {
        answer.setEncoding('utf8')
        let text = ''
        answer.on('data', (chunk: string) => (text += chunk))
        answer.on('end', () => {
          clearTimeout(timer)
          resolve(text)
        })
        answer.on('error', reject)
      })
      const timer = setTimeout(() => request.destroy(new Error('timed out')), timeoutMs)
      request.on('error', reject)
      request.end(data)
    })
  return {
    work: () => sideBySide(events, concurrency, send),
    close: async () => agent.destroy(),
  }
}
