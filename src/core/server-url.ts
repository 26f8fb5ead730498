/** Where clients find the admin API: `publicUrl` with its path, or with the prefix of the mount where it has no path. */
export function serverUrl({
  basePath = '',
  publicUrl,
}: {
  readonly basePath?: string
  readonly publicUrl?: string | undefined
}): string {
  if (publicUrl === undefined) return basePath
  const { origin, pathname } = new URL(publicUrl)
  return pathname === '/' ? `${origin}${basePath}` : `${origin}${pathname.replace(/\/$/, '')}`
}
