import type { PgPool } from './clients.ts'
import { checkOut } from './pg-check-out.ts'
import { defaultTimeoutMs } from './timers.ts'

const pauseMs = 1000

/** Listens on a connection of the pool, and takes another when that connection is lost. */
export async function pgListen(
  pool: PgPool,
  channel: string,
  heard: (payload: string) => void,
  regained: () => void,
  lost: () => void = () => {},
): Promise<() => Promise<void>> {
  let stopped = false
  let hangUp: () => void = () => {}

  const open = async (): Promise<void> => {
    const { client, giveBack } = await checkOut(pool, defaultTimeoutMs)
    const onNotification = (message: { channel: string; payload?: string }) => {
      if (message.channel === channel) heard(message.payload ?? '')
    }
    const end = (): void => {
      client.removeListener('notification', onNotification)
      client.removeListener('end', onLost)
      giveBack(false)
    }
    const onLost = (): void => {
      end()
      if (stopped) return
      lost()
      again()
    }
    client.on('notification', onNotification)
    client.on('end', onLost) // every loss ends with it
    hangUp = end
    try {
      await client.query(`listen ${quoted(channel)}`)
    } catch (error) {
      end()
      throw error
    }
    if (stopped) end()
  }
  const again = (): void => {
    hangUp = () => clearTimeout(timer)
    const timer = setTimeout(() => void open().then(regained, () => stopped || again()), pauseMs)
  }

  await open()
  return async () => {
    if (stopped) return
    stopped = true
    hangUp()
  }
}

/** A name of a channel as SQL. */
export function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`
}
