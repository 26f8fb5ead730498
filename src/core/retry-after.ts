const maxMs = 24 * 60 * 60 * 1000

// RFC 9110 section 5.6.7: IMF-fixdate, and the two obsolete forms that recipients must accept.
const httpDates = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
]
const asctime = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * The moment a Retry-After header names (RFC 9110 section 10.2.3), as unix milliseconds: seconds or an HTTP date, at most
 * 24 hours from `now`. Null for anything else, and for a moment that has passed.
 */
export function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  const text = value.trim()
  const until = /^\d+$/.test(text) ? now + Number(text) * 1000 : httpDate(text)
  if (until === null || Number.isNaN(until) || until <= now) return null
  return Math.min(until, now + maxMs)
}

function httpDate(text: string): number | null {
  if (httpDates.some((form) => form.test(text))) return Date.parse(text)
  return asctime.test(text) ? Date.parse(`${text} GMT`) : null
}
