/** What a cancel request needs of a client of `pg`. Where it is missing, as in the native client, none is sent. */
export interface PgInternals {
  readonly processID?: number | null
  readonly secretKey?: unknown
  readonly host?: string
  readonly port?: number
  readonly ssl?: unknown
  readonly connection?: {
    readonly constructor: unknown
    readonly sslNegotiation?: string
    readonly stream?: { destroy(): void }
  }
}

/** A connection of `pg` before it has said who it is. */
interface PgConnection {
  readonly stream: { destroy(): void }
  on(event: string, listener: (cause?: Error) => void): void
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: unknown): void
}

/**
 * Asks the server, on a separate short connection, to end what this client runs: PgBouncer hands the request on, which
 * `pg_cancel_backend` could not pass. Resolves when the server has closed that connection: then the server has acted on
 * the request.
 */
export function cancelPg(client: unknown): Promise<void> {
  const { processID, secretKey, host, port, ssl, connection } = client as PgInternals
  if (typeof processID !== 'number' || typeof connection?.constructor !== 'function' || port === undefined) {
    return Promise.reject(new Error('this client of pg cannot cancel'))
  }
  const { sslNegotiation } = connection
  const Connection = connection.constructor as new (config: object) => PgConnection
  const request = new Connection({ ssl, sslNegotiation })
  const send = (): void => request.cancel(processID, secretKey)
  return new Promise<void>((resolve, reject) => {
    request.on('end', () => resolve())
    request.on('error', (cause) => {
      request.stream.destroy()
      reject(cause ?? new Error('the cancel request failed'))
    })
    request.on('sslconnect', send)
    request.on('connect', () => {
      if (!ssl) send()
      else if (sslNegotiation !== 'direct') request.requestSsl()
    })
    if (host?.startsWith('/')) request.connect(`${host}/.s.PGSQL.${port}`)
    else request.connect(port, host)
    setTimeout(() => request.stream.destroy(), maxMs)
  })
}

/** No cancel request is open longer. */
const maxMs = 5_000
