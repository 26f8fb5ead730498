/** A fetch-style handler, to be mounted wherever a host routes requests. */
export interface Handler {
  fetch(request: Request): Promise<Response>
}
