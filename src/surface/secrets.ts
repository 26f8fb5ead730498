import type { ResealReport, SecretsStatus } from '../schema/secrets.ts'

/** The secrets of all workspaces, as they are stored. */
export interface SecretsService {
  /**
   * Seals everything with the key that seals now: values in clear, and those of other keys. It may run beside everything
   * else and in several processes. After a crash the next call goes on with what is left. `signal` ends it early.
   * @throws PosthornError validation without the option `secrets`
   */
  reseal(options?: { signal?: AbortSignal }): Promise<ResealReport>
  /** Counts the values by key. It reads the configuration of all workspaces. */
  status(): Promise<SecretsStatus>
}
