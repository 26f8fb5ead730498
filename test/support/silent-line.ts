import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SilentLine {
  /** The address of the server, through the line. */
  readonly url: string
  /** Connections that are open say nothing any more; so do new ones until `mend`. */
  cut(): void
  /** New connections pass again. */
  mend(): void
  /** New connections are refused from now on. */
  refuse(): void
  close(): Promise<void>
}

/** A line to a server that may fall silent, as when a firewall forgets it: nothing is closed, and nothing comes through. */
export async function silentLine(server: string): Promise<SilentLine> {
  const { hostname, port } = new URL(server)
  const pairs = new Set<{ near: Socket; far: Socket | null; isSilent: boolean }>()
  let isCut = false
  const proxy = createServer((near) => {
    const pair = { near, far: isCut ? null : connect(Number(port), hostname), isSilent: isCut }
    pairs.add(pair)
    near.on('error', () => {})
    near.on('data', (data) => pair.isSilent || pair.far?.write(data))
    near.on('close', () => {
      pairs.delete(pair)
      pair.far?.destroy()
    })
    pair.far?.on('error', () => near.destroy())
    pair.far?.on('close', () => pair.isSilent || near.destroy())
    pair.far?.on('data', (data) => pair.isSilent || near.write(data))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(server)
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as AddressInfo).port) // a TCP server's address is one
  return {
    url: url.href,
    cut() {
      isCut = true
      for (const pair of pairs) pair.isSilent = true
    },
    mend() {
      isCut = false
    },
    refuse: () => void proxy.close(),
    async close() {
      for (const { near, far } of pairs) {
        near.destroy()
        far?.destroy()
      }
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
