import { setTimeout as sleep } from 'node:timers/promises'

import type { Proxy } from './proxy.ts'

/** Something that goes wrong with the network between the library and its engine. */
export interface NetworkFault {
  readonly name: string
  /** Whether the network stands still long enough that health must tell it. */
  readonly isTold: boolean
  /** Whether nothing is published or delivered when it begins. */
  readonly inIdle: boolean
  /** Brings it on, and resolves when the network is good for new connections. */
  strike(proxy: Proxy): Promise<void>
}

const stall = (seconds: number): NetworkFault => ({
  name: `stall of ${seconds} s`,
  isTold: true,
  inIdle: false,
  async strike(proxy) {
    proxy.weather('stalled')
    await sleep(seconds * 1000)
    proxy.weather('good')
  },
})

const silence = (seconds: number): NetworkFault => ({
  name: `no answers for ${seconds} s`,
  isTold: true,
  inIdle: false,
  async strike(proxy) {
    proxy.weather('silent')
    await sleep(seconds * 1000)
    proxy.weather('good')
  },
})

const reset: NetworkFault = {
  name: 'reset, ten times',
  isTold: false,
  inIdle: false,
  async strike(proxy) {
    for (let n = 0; n < 10; n++) {
      proxy.reset()
      await sleep(500)
    }
  },
}

/** Connections that were open before stay as they are: those that are half-open by then. */
const dropAfter = (bytes: number): NetworkFault => ({
  name: `half-open after ${bytes} bytes, 30 s`,
  isTold: false,
  inIdle: false,
  async strike(proxy) {
    proxy.dropAfter(bytes)
    await sleep(30_000)
    proxy.dropAfter(null)
  },
})

const idleDrop: NetworkFault = {
  name: 'half-open in idle',
  isTold: true,
  inIdle: true,
  async strike(proxy) {
    proxy.drop()
  },
}

export const faults: readonly NetworkFault[] = [
  stall(5),
  stall(30),
  stall(150),
  silence(30),
  silence(150),
  reset,
  dropAfter(1),
  dropAfter(4000),
  idleDrop,
]
