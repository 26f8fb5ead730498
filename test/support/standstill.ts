import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'

export interface Standstill {
  /** Answers what the other thread answered, before it returns. @throws Error with the message and the code that it failed with. */
  ask(question: readonly unknown[]): unknown
  close(): Promise<number>
}

/**
 * Asks a server from another thread while this one stands still, so that no virtual time passes while a question is under
 * way. `asker` is the text of an async function in CommonJS that takes the url, connects, and answers what takes questions.
 */
export function standstill(url: string, asker: string): Standstill {
  const { port1: here, port2: there } = new MessageChannel()
  const answered = new Int32Array(new SharedArrayBuffer(4))
  const text = `
    const { answered, there, url } = require('node:worker_threads').workerData
    const asking = (${asker})(url)
    there.on('message', async ({ number, question }) => {
      const answer = asking.then((ask) => ask(question))
      const told = await answer.then((value) => ({ value }), ({ message, code }) => ({ failure: { message, code } }))
      there.postMessage({ number, ...told })
      Atomics.add(answered, 0, 1)
      Atomics.notify(answered, 0)
    })`
  const worker = new Worker(text, { eval: true, workerData: { answered, there, url }, transferList: [there] })
  let number = 0
  return {
    ask(question) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
      here.postMessage({ number: ++number, question })
      const { value, failure } = answerOf(here, number, answered)
      if (failure !== undefined) throw Object.assign(new Error(failure.message), { code: failure.code })
      return value
    },
    close: () => worker.terminate(),
  }
}

const lookAgainMs = 50
const maxLooks = 600

/** Waits until the count of answers grows. Where it grows late, for the answer before, that costs one more look. */
function answerOf(port: MessagePort, number: number, answered: Int32Array): Answer {
  for (let looks = 0; looks < maxLooks; looks++) {
    const told = Atomics.load(answered, 0)
    const answer = receiveMessageOnPort(port)?.message as Answer | undefined
    if (answer?.number === number) return answer
    if (answer !== undefined) continue // of a question that was given up
    Atomics.wait(answered, 0, told, lookAgainMs)
  }
  throw new Error('the other thread does not answer')
}

interface Answer {
  /** Of the question. */
  readonly number: number
  readonly value?: unknown
  readonly failure?: { readonly message: string; readonly code?: unknown }
}
