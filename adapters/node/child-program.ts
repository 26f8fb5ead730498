import type { ThreadScript } from '../../src/contracts/platform.ts'

/** What a process may hold beside the JavaScript heap: the runtime itself, WebAssembly, buffers. */
const besideHeapBytes = 224 * 1024 * 1024
const lookMs = 200
/** Of a shorter run the wall clock tells enough. To ask for the time of the processor takes longer than a short run. */
const shortMs = 1
const turnEvery = 256

/**
 * JavaScript of a process that runs a script. The program holds all that it needs, so that it runs without a file of
 * ours. Messages come and go as `frames.ts` writes them. The program waits for a message inside `readSync`: there is
 * nothing else to do meanwhile, and an event loop would take longer to wake.
 */
export function childProgram({ text, modules, heapBytes }: ThreadScript, from: string): string {
  return `
    const { createRequire } = process.getBuiltinModule('node:module')
    const { createHmac } = process.getBuiltinModule('node:crypto')
    const { readSync, writeSync } = process.getBuiltinModule('node:fs')
    const { deserialize, serialize } = process.getBuiltinModule('node:v8')
    const { Worker } = process.getBuiltinModule('node:worker_threads')
    let bytes = Buffer.alloc(65_536)
    const fill = (has, due) => {
      while (has < due) {
        const got = readSync(0, bytes, has, bytes.length - has, null)
        if (got === 0) process.exit()
        has += got
      }
      return has
    }
    const next = () => {
      const has = fill(0, 4)
      const end = 4 + bytes.readUInt32LE(0)
      const own = bytes
      if (end > own.length) own.copy((bytes = Buffer.alloc(end)), 0, 0, has)
      fill(has, end)
      const message = deserialize(bytes.subarray(4, end))
      bytes = own
      return message
    }
    const tell = (message) => {
      const body = serialize(message)
      const frame = Buffer.allocUnsafe(4 + body.length)
      frame.writeUInt32LE(body.length)
      body.copy(frame, 4)
      for (let at = 0; at < frame.length; ) at += writeSync(1, frame, at)
    }
    const main = async () => {
      const load = createRequire(${JSON.stringify(from)})
      const hmac = (hash, key, data) => createHmac(hash.replace('-', ''), key).update(data).digest()
      const answer = await (${text})(${JSON.stringify(modules)}.map((name) => load(name)), hmac)
      // The wall clock also counts what others do on a busy machine, the processor what the engine compiles beside.
      const busyMs = (wallMs, before) => {
        if (wallMs < ${shortMs}) return wallMs
        const { user, system } = process.cpuUsage(before)
        return Math.min(wallMs, (user + system) / 1000)
      }
      tell({ ready: true })
      for (let count = 1; ; count++) {
        const before = process.cpuUsage()
        const message = next()
        const from = performance.now()
        const told = await answer(message)
        tell({ answer: told, busyMs: busyMs(performance.now() - from, before) })
        await answer.afterwards?.()
        // The engine leaves tasks to the event loop.
        if (count % ${turnEvery} === 0) await new Promise(setImmediate)
      }
    }
    main().catch((error) => tell({ failed: String(error) }))
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
