import type { Options } from 'posthorn'
import type { PortalOptions } from 'posthorn/portal'

import type { Environment } from './command.ts'
import type { FileValues } from './configuration-file.ts'
import { nearest } from './nearest.ts'
import { knownVariables, type SettingName, settings, type Settings, unknownVariables } from './settings.ts'

/** What has no variable: options of `createPosthorn` and `portal` that a configuration file may hold. */
const codeNames = [
  'authorize',
  'events',
  'strictEvents',
  'secrets',
  'portal',
  'pluginKinds',
  'storage',
  'queue',
  'inbox',
  'limiter',
] as const
export interface CodeOptions extends Pick<
  Options,
  'events' | 'strictEvents' | 'secrets' | 'storage' | 'queue' | 'inbox' | 'limiter'
> {
  readonly authorize?: NonNullable<Options['admin']>['authorize']
  /** How the portal looks and what it offers. */
  readonly portal?: Omit<PortalOptions, 'basePath' | 'secret' | 'origin'>
  /** Plugins of the host's own, beside those of `plugins`. */
  readonly pluginKinds?: Options['plugins']
}

export interface ReadSettings {
  readonly settings: Settings
  readonly code: CodeOptions
  /** Every mistake, a sentence each. `settings` are of use only where the list is empty. */
  readonly problems: readonly string[]
}

/** Reads all settings: a variable comes before the configuration file, and that before the default. */
export function readSettings(env: Environment, file: FileValues = {}): ReadSettings {
  const problems: string[] = []
  const read = (name: SettingName): unknown => {
    const { variable, kind, byDefault } = settings[name]
    const fromEnvironment = env[variable]
    // Only for DENY an empty text means something.
    const isSet = fromEnvironment !== undefined && (fromEnvironment !== '' || name === 'deny')
    if (!isSet && (file[name] ?? null) === null) return byDefault
    try {
      return kind.read(isSet ? fromEnvironment : file[name])
    } catch (error) {
      problems.push(`${isSet ? variable : name} ${(error as Error).message}`)
      return byDefault
    }
  }
  const names = Object.keys(settings) as SettingName[] // the keys of the table
  const values = Object.fromEntries(names.map((name) => [name, read(name)])) as unknown as Settings // each by its kind
  const code = Object.fromEntries(
    codeNames.flatMap((name) => (name in file ? [[name, file[name]]] : [])),
  ) as CodeOptions

  problems.push(
    ...unknownVariables(env).map((name) => unknown(name, knownVariables)),
    ...Object.keys(file)
      .filter((name) => !names.includes(name as SettingName) && !(codeNames as readonly string[]).includes(name))
      .map((name) => unknown(name, [...names, ...codeNames])),
    ...contradictions(values, code),
  )
  return { settings: values, code, problems }
}

function unknown(name: string, names: readonly string[]): string {
  const meant = nearest(name, names)
  return `${name} is no setting${meant === null ? '' : `; did you mean ${meant}?`}`
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** What each setting allows alone, and not beside others. */
function contradictions(given: Settings, code: CodeOptions): string[] {
  const { role, host, adminToken, databaseUrl, redisUrl } = given
  const found: string[] = []
  if (role !== 'worker' && !isLoopback(host) && adminToken === undefined && code.authorize === undefined) {
    found.push(`HOST ${host} is reached by others: set ADMIN_TOKEN, or authorize in the configuration file`)
  }
  if (role !== 'all' && databaseUrl === undefined && redisUrl === undefined && code.storage === undefined) {
    found.push(`POSTHORN_ROLE ${role} shares its work with other processes: set DATABASE_URL or REDIS_URL`)
  }
  const ports = [given.portAdmin, given.portGateway, given.portStatus].filter((port) => port !== 0)
  if (new Set(ports).size < ports.length) found.push('PORT_ADMIN, PORT_GATEWAY and PORT_STATUS must differ')
  if (code.authorize !== undefined && typeof code.authorize !== 'function') found.push('authorize must be a function')
  if (code.secrets !== undefined && given.secretsKeys !== undefined)
    found.push('POSTHORN_SECRETS_KEYS and secrets of the configuration file: set one of both')
  if (code.portal !== undefined && given.portalSecret === undefined)
    found.push('portal of the configuration file: set POSTHORN_PORTAL_SECRET, without which there is no portal')
  return found
}
