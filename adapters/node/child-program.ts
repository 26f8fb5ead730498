import type { ThreadScript } from '../../src/contracts/platform.ts'

/** What a process may hold beside the JavaScript heap: the runtime itself, WebAssembly, buffers. */
const besideHeapBytes = 224 * 1024 * 1024
const lookMs = 200

/** JavaScript of a process that runs a script. The program holds all that it needs, so that it runs without a file of ours. */
export function childProgram({ text, modules, heapBytes }: ThreadScript, from: string): string {
  return `
    const { createRequire } = process.getBuiltinModule('node:module')
    const { createHmac } = process.getBuiltinModule('node:crypto')
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    process.on('disconnect', () => process.exit())
    const main = async () => {
      const load = createRequire(${JSON.stringify(from)})
      const hmac = (hash, key, data) => createHmac(hash.replace('-', ''), key).update(data).digest()
      const answer = await (${text})(${JSON.stringify(modules)}.map((name) => load(name)), hmac)
      process.on('message', async (message) => {
        const [from, before] = [performance.now(), process.cpuUsage()]
        const told = await answer(message)
        const { user, system } = process.cpuUsage(before)
        // The wall clock also counts what others do on a busy machine, the processor what the engine compiles beside.
        process.send({ answer: told, busyMs: Math.min(performance.now() - from, (user + system) / 1000) })
        answer.afterwards?.()
      })
      process.send({ ready: true })
    }
    main().catch((error) => process.send({ failed: String(error) }))
    // Ends the process from beside a loop: when the parent process is gone, or the memory is too much.
    new Worker(${JSON.stringify(watch(heapBytes + besideHeapBytes))}, { eval: true, env: {} }).unref()`
}

function watch(bytes: number): string {
  return `
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent || process.memoryUsage.rss() > ${bytes}) process.kill(process.pid, 'SIGKILL')
    }, ${lookMs})`
}
