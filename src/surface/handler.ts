/** A fetch-style handler, to be mounted wherever a host routes requests. */
export interface Handler {
  /** Answers a request. It never throws: what goes wrong is an answer. */
  fetch(request: Request): Promise<Response>
}
