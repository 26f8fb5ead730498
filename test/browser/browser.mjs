import { existsSync } from 'node:fs'

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

/** Starts Debian's Chromium, or the one of the environment variable `CHROMIUM`. */
export async function launch(chromium) {
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return await chromium.launch({ executablePath, args: [...root, '--disable-dev-shm-usage'] })
}
