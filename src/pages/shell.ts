import { base64UrlOf, bytesOf } from '../core/encoding.ts'

/** A built page. */
export interface BuiltPage {
  readonly script: string
  readonly style: string
}

/** What a page says of itself. */
export interface ShellOptions {
  readonly title: string
  /** Where the page is mounted. */
  readonly basePath: string
  /** What the script of the page reads: plain values. */
  readonly settings: object
  /** Origins that may show the page in a frame. */
  readonly frameAncestors: readonly string[]
}

/** A page of one document, one script and one style sheet, which are served from memory. */
export interface Shell {
  /** The answer to the path of a script or a style sheet; null for another path. */
  asset(path: string): Promise<Response | null>
  document(): Promise<Response>
}

/** Headers of every answer: browsers guess no content type and send no referrer. */
export const plainHeaders: Readonly<Record<string, string>> = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' } as const

export function shell({ script, style }: BuiltPage, options: ShellOptions): Shell {
  let names: Promise<{ readonly js: string; readonly css: string }> | undefined
  // Digests are made at the first request: some runtimes have no cryptography before it.
  const named = () => (names ??= Promise.all([nameOf(script), nameOf(style)]).then(([js, css]) => ({ js, css })))

  return {
    async asset(path) {
      const [, name, kind] = /^\/assets\/([\w-]+)\.(js|css)$/.exec(path) ?? []
      if (kind !== 'js' && kind !== 'css') return null
      if (name !== (await named())[kind]) return null
      const headers = {
        ...plainHeaders,
        'content-type': types[kind],
        'cache-control': 'public, max-age=31536000, immutable',
      }
      return new Response(kind === 'js' ? script : style, { headers })
    },

    async document() {
      const { js, css } = await named()
      return new Response(documentText(options, js, css), {
        headers: {
          ...plainHeaders,
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'content-security-policy': policy(options.frameAncestors),
          'cross-origin-opener-policy': 'same-origin',
          'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
        },
      })
    },
  }
}

/** Nothing but what this origin serves; nothing inline; in frames only where the host says so. */
function policy(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  ].join('; ')
}

function documentText({ title, basePath, settings }: ShellOptions, js: string, css: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="posthorn" content="${escaped(JSON.stringify({ ...settings, basePath }))}">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/assets/${css}.css">
<script type="module" src="${basePath}/assets/${js}.js"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`
}

/** A text as it may stand in HTML, in an attribute too. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

async function nameOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytesOf(text))
  return base64UrlOf(new Uint8Array(digest)).slice(0, 16)
}
