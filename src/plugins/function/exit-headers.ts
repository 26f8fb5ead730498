const passing = new Set(['content-type', 'cache-control', 'retry-after'])
// A proxy in front of the host may take these for orders to answer with a file of the proxy's machine.
const orders = /^x-(accel-|sendfile|lighttpd-)/

/**
 * Whether a function may answer with this header. The answer comes from the origin of the host, so a function may set
 * nothing that a browser keeps or obeys beyond the answer, such as cookies, service workers or permissions.
 */
export function mayAnswerWith(name: string, status: number): boolean {
  const lower = name.toLowerCase()
  if (lower === 'location') return status >= 300 && status < 400
  return passing.has(lower) || (lower.startsWith('x-') && !orders.test(lower))
}
