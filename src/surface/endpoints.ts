import type { Attempt } from '../schema/attempt.ts'
import type { Endpoint, EndpointInput } from '../schema/endpoint.ts'
import type { RotateInput } from '../schema/rotate-secret.ts'
import type { EndpointSecret } from '../schema/secrets.ts'
import type { EndpointHealth } from '../schema/stats.ts'
import type { OwnedListInput } from './lists.ts'
import type { ResourceService } from './resource.ts'

/** What a test delivery holds. */
export interface TestInput {
  /** The type of the event that is sent. 1 to 255 code points. Default `posthorn.test`. */
  readonly event_type?: string
  /** The data of the event: any JSON value, or a `JsonText`. Default: a short message. */
  readonly data?: unknown
}

/** Endpoints: where deliveries go. `workspace` is an id or a name. `Input` is what may be written. */
export interface EndpointService<Input = EndpointInput> extends ResourceService<Endpoint, Input, OwnedListInput> {
  /**
   * Answers how the endpoint does: the last success and failure, what waits, and the success rates.
   * @throws PosthornError not_found, unknown_workspace
   */
  health(workspace: string, id: string): Promise<EndpointHealth>
  /**
   * Makes one sample delivery now, and answers the attempt once it has ended. A failed attempt is not retried.
   * @throws PosthornError not_found, validation, unknown_workspace, overloaded, unavailable
   * @example const { status, response } = await posthorn.endpoints.test('default', endpoint.id)
   */
  test(workspace: string, id: string, input?: TestInput): Promise<Attempt>
  /**
   * Answers the secret that signs the endpoint's deliveries, in clear.
   * @throws PosthornError not_found, unknown_workspace; validation without a signature plugin
   */
  secret(workspace: string, id: string): Promise<EndpointSecret>
  /**
   * Gives the endpoint's signature plugin a new secret, of the same kind of key, and answers the secret. Deliveries carry
   * the signatures of the old secrets too until the overlap ends.
   * @throws PosthornError not_found, validation, unknown_workspace
   * @example const { secret } = await posthorn.endpoints.rotateSecret('default', endpoint.id, { overlap_seconds: 3600 })
   */
  rotateSecret(workspace: string, id: string, input?: RotateInput): Promise<EndpointSecret>
}
