import type { ConfigDocument, SyncReport } from '../schema/config.ts'
import type { ShownAs } from '../schema/secrets.ts'

/** The configuration of a workspace as one document. `workspace` is an id or a name. */
export interface ConfigService {
  /**
   * Makes the workspace what the document says, all or nothing. `document` is parsed JSON or YAML. `dryRun` only reports.
   * @throws PosthornError validation, unknown_workspace, unique_violation
   */
  sync(workspace: string, document: ConfigDocument, options?: { dryRun?: boolean }): Promise<SyncReport>
  /**
   * Answers the configuration as a document. A sync of that document changes nothing. `secrets`: in clear text, as
   * masks, or sealed as they are stored. Default `masked` with the option `secrets`; without it `clear` is the default
   * and the only choice.
   * @throws PosthornError validation, unknown_workspace; unavailable when a secret cannot be opened
   */
  dump(workspace: string, options?: { secrets?: ShownAs | undefined }): Promise<ConfigDocument>
}
