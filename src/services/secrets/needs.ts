import type { Clock } from '../../contracts/clock.ts'
import type { Logger } from '../../contracts/observer.ts'
import type { Platform } from '../../contracts/platform.ts'
import type { PluginRegistry } from '../../contracts/plugin.ts'
import type { Storage } from '../../contracts/storage.ts'
import type { SliceClock } from '../../runtime/slices.ts'

/** What sealing and opening secrets needs. */
export interface RowSecretsNeeds {
  readonly storage: Storage
  readonly plugins: PluginRegistry
  readonly platform: Platform
  readonly clock: Clock & SliceClock
  /** For what may come again and again. */
  readonly log: Logger
}
