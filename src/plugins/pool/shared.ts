import type { Platform } from '../../contracts/platform.ts'

interface Closable {
  close(): void
}

/** One runner for all plugins of a kind. It is closed when no plugin is prepared any more. */
export function runnerOf<Runner extends Closable>(make: (platform: Platform) => Runner) {
  let shared: { readonly runner: Runner; users: number } | undefined

  function open(platform: Platform): Runner {
    shared ??= { runner: make(platform), users: 0 }
    const opened = shared
    opened.users++
    let closed = false
    return {
      ...opened.runner,
      close() {
        if (closed) return
        closed = true
        if (--opened.users > 0) return
        opened.runner.close()
        if (shared === opened) shared = undefined
      },
    }
  }

  return {
    open,
    /** Opens the runner for one use. */
    async use<Answer>(platform: Platform, work: (runner: Runner) => Promise<Answer>): Promise<Answer> {
      const runner = open(platform)
      try {
        return await work(runner)
      } finally {
        runner.close()
      }
    },
  }
}
