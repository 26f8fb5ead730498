import type { Clock } from '../../contracts/clock.ts'
import type { Logger } from '../../contracts/observer.ts'
import type { Platform } from '../../contracts/platform.ts'
import type { PluginRegistry } from '../../contracts/plugin.ts'
import type { Storage } from '../../contracts/storage.ts'
import type { Settings } from '../../options.ts'
import { RowSecrets } from './row-secrets.ts'
import { vault } from './vault.ts'

/** Headers that are secret where the option `secrets` is set and `deliver.secretHeaders` is not. */
const defaultSecretHeaders = ['x-auth-token', 'api-key', 'x-signature-key', 'proxy-authorization']

interface Needs {
  readonly storage: Storage
  readonly plugins: PluginRegistry
  readonly platform: Platform
  readonly clock: Clock
  /** For what may come again and again. */
  readonly log: Logger
}

/** The secrets of an instance by its options. */
export function rowSecrets(needs: Needs, { secrets, deliver }: Settings): RowSecrets {
  const own = deliver.secretHeaders ?? (secrets === undefined ? [] : defaultSecretHeaders)
  return new RowSecrets({
    ...needs,
    secretHeaders: new Set([...deliver.redactHeaders, ...own].map((name) => name.toLowerCase())),
    vault: secrets === undefined ? null : vault(needs, secrets),
  })
}
