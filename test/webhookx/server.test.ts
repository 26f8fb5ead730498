import { expect, onTestFinished, test } from 'vitest'

import { program } from '../support/program.ts'

// The built server, which reads the switch from its environment.

function server(compatible: string) {
  const ports = { PORT_ADMIN: '0', PORT_GATEWAY: '0', PORT_STATUS: '0' }
  const env = { ...ports, DATABASE_URL: '', REDIS_URL: '', POSTHORN_COMPATIBLE: compatible }
  const running = program(process.execPath, ['dist/cli/index.js', 'serve', '--log', 'text'], { env })
  onTestFinished(() => running.kill())
  return running
}

test.each([
  ['webhookx', 200],
  ['', 400],
] as const)('POSTHORN_COMPATIBLE=%s: an empty filter is answered %i', { timeout: 60_000 }, async (value, status) => {
  const [, admin] = (await server(value).says(/^admin /)).split(/ +/)
  expect((await fetch(`${admin}/endpoints?enabled=`)).status).toBe(status)
})

test('another value of POSTHORN_COMPATIBLE ends the server with the reason', { timeout: 60_000 }, async () => {
  await expect(server('svix').ended()).rejects.toThrow('POSTHORN_COMPATIBLE must be one of webhookx')
})
