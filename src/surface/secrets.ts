import type { ResealReport, SecretsStatus } from '../schema/secrets.ts'

/** The secrets of all workspaces, as they are stored. */
export interface SecretsService {
  /**
   * Seals everything with the key that seals now: values in clear, and those of other keys. It may run beside everything
   * else and in several processes. After a crash the next call goes on with what is left.
   * @param options `signal` ends the call after the step under way; `onProgress` hears after each step, of 100 rows at most,
   * what was done so far
   * @throws PosthornError validation without the option `secrets`
   */
  reseal(options?: { signal?: AbortSignal; onProgress?: (soFar: ResealReport) => void }): Promise<ResealReport>
  /** Counts the values by key. It reads the configuration of all workspaces. */
  status(): Promise<SecretsStatus>
}
