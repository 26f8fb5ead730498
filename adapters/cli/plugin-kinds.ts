import type { PluginKind } from 'posthorn'

import { Failure } from './failure.ts'

/** Plugins that need further packages: for each plugin the packages, and the function that makes it. */
const sources = {
  'event-validation': {
    packages: ['re2js'],
    make: async () => (await import('posthorn/event-validation')).eventValidation(),
  },
  function: {
    packages: ['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync'],
    make: async () => (await import('posthorn/function')).functionPlugin(),
  },
} satisfies Record<string, { packages: readonly string[]; make(): Promise<PluginKind> }>

export type PluginName = keyof typeof sources

/** The plugins that are asked for; when none is, those whose packages are installed. */
export async function pluginKinds(
  asked: readonly PluginName[] | undefined,
): Promise<{ readonly kinds: readonly PluginKind[]; readonly missing: readonly PluginName[] }> {
  const names = Object.keys(sources) as PluginName[] // the keys of the table
  const wanted = asked ?? names.filter(isInstalled)
  for (const name of wanted) {
    if (!isInstalled(name))
      throw new Failure(`the plugin ${name} needs packages: npm i ${sources[name].packages.join(' ')}`)
  }
  const kinds = await Promise.all(wanted.map((name) => sources[name].make()))
  return { kinds, missing: names.filter((name) => !wanted.includes(name)) }
}

/** The further packages that a plugin of ours needs; null for another plugin. */
export function packagesOf(name: string): readonly string[] | null {
  return Object.hasOwn(sources, name) ? sources[name as PluginName].packages : null
}

function isInstalled(name: PluginName): boolean {
  return sources[name].packages.every((each) => {
    try {
      import.meta.resolve(each)
      return true
    } catch {
      return false
    }
  })
}
