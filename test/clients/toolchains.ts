import { run, made, here } from './run.ts'

/** Null when the toolchain can be used, else why it cannot. */
export type Toolchain = () => Promise<string | null>

/** Asks once. A toolchain that is there but cannot install what it needs counts as missing, with the reason. */
function once(prepare: () => Promise<unknown>): Toolchain {
  let asked: Promise<string | null> | undefined
  const reason = (cause: unknown) => String(cause instanceof Error ? cause.message : cause).slice(0, 500)
  return () => (asked ??= prepare().then(() => null, reason))
}

export const python = `${made}/python/bin/python`

/** Python 3.10 with the packages of `python/requirements.txt` in an environment of this folder. */
export const withPython = once(async () => {
  await run('python3', ['-c', 'import sys; assert sys.version_info >= (3, 10), "Python 3.10 or later is needed"'])
  await run('python3', ['-m', 'venv', `${made}/python`])
  await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', `${here}python/requirements.txt`])
})

/** openapi-generator is written in Java, and its jar comes in a package of PyPI. */
export const withJava = once(() => run('java', ['-version']))

/** Go 1.24, which knows tools of a module, with the modules of `go.mod`. */
export const withGo = once(async () => {
  await run('go', ['version'])
  await run('go', ['mod', 'download'])
})

export const withRust = once(() => run('cargo', ['fetch', '--manifest-path', 'rust/Cargo.toml']))

export const classPath = `${made}/java.classpath`

/** Java with the libraries of `java/pom.xml`. */
export const withMaven = once(async () => {
  await run('java', ['-version'])
  const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${classPath}`]
  await run('mvn', ['--quiet', '--batch-mode', '--file', 'java/pom.xml', ...goal])
})

/** The first reason of those why toolchains are missing, or null. */
export async function missing(toolchains: readonly Toolchain[]): Promise<string | null> {
  for (const toolchain of toolchains) {
    const reason = await toolchain()
    if (reason !== null) return reason
  }
  return null
}
