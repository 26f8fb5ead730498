import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { build } from 'esbuild'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { token, useHost } from '../support/host.ts'
import { type Program, program } from '../support/program.ts'
import { makeProject, workerd } from './project.ts'
import { startReceiver, useServer } from './server.ts'

let project: ReturnType<typeof makeProject>
beforeAll(() => {
  project = makeProject()
})
afterAll(() => project.remove())

/** Bundles a Worker as a deployment would, and serves it. Without a schedule of its own, `/cron` stands for the trigger. */
async function serve(name: string, source: string): Promise<{ readonly base: string; readonly running: Program }> {
  await build({
    stdin: { contents: source, resolveDir: project.folder },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    conditions: ['workerd', 'worker', 'browser'],
    outfile: join(project.folder, `${name}.worker.js`),
    logLevel: 'error',
  })
  const config = join(project.folder, `${name}.capnp`)
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "${name}.worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "ADMIN_TOKEN", text = "${token}")],
);
`,
  )
  const running = program(workerd, ['serve', '--control-fd=1', config], { cwd: project.folder })
  onTestFinished(async () => void (await running.stop()))
  const { port } = JSON.parse(await running.says(/"listen"/)) as { port: number }
  return { base: `http://127.0.0.1:${port}`, running }
}

test('the example for Workers mounts the three faces, and its cron trigger delivers', async () => {
  const { base, running } = await serve(
    'edge',
    `import host from './edge.js'
    export default {
      async fetch(request, env) {
        if (!request.url.endsWith('/cron')) return await host.fetch(request, env)
        await host.scheduled()
        return new Response()
      },
    }`,
  )
  await useHost(base)
  await fetch(`${base}/cron`)
  expect(await running.says(/delivered/)).toContain('delivered 0, failed 0, remaining 0')
})

test('a Worker delivers, signs, retries and records', async () => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const { base } = await serve(
    'service',
    `import { createPosthorn } from 'posthorn'
    import { eventValidation } from 'posthorn/event-validation'
    let posthorn
    export default {
      async fetch(request) {
        posthorn ??= createPosthorn({
          admin: { basePath: '/admin' },
          gateway: { basePath: '/in' },
          deliver: { deny: [] },
          plugins: [eventValidation()],
        })
        const { pathname } = new URL(request.url)
        if (pathname === '/tick') return Response.json(await posthorn.tick())
        return await (pathname.startsWith('/in/') ? posthorn.gateway : posthorn.admin).fetch(request)
      },
    }`,
  )
  const tick = () => fetch(`${base}/tick`)
  await useServer({ admin: `${base}/admin`, gateway: `${base}/in` }, receiver, {
    functions: false,
    work: async () => {
      await tick()
      await tick()
    },
  })
})
