import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { AskError } from './ask.ts'

export interface Loaded<Data> {
  /** Undefined until the first answer. After an error the last answer stays. */
  readonly data: Data | undefined
  readonly error: AskError | undefined
  /** Asks at once, beside the polling. */
  reload(): void
}

/**
 * Asks when the key changes, and with `everyMs` again and again: never two at once, never in a hidden tab.
 * A key of null asks nothing.
 */
export function useLoad<Data>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Data>,
  { everyMs = 0 } = {},
): Loaded<Data> {
  const [state, setState] = useState<{ key: string | null; data?: Data | undefined; error?: AskError | undefined }>({
    key,
  })
  const latest = useRef(load)
  latest.current = load
  const again = useRef<() => void>(() => {})

  // Before the paint: the request goes out a frame earlier.
  useLayoutEffect(() => {
    if (key === null) return
    const over = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isAsking = false
    const run = async (): Promise<void> => {
      clearTimeout(timer)
      if (isAsking) return
      isAsking = true
      try {
        const data = await latest.current(over.signal)
        if (!over.signal.aborted) setState({ key, data })
      } catch (cause) {
        if (over.signal.aborted) return
        const error = cause instanceof AskError ? cause : new AskError(0, 'This page could not be shown.')
        setState((before) => ({ key, data: before.key === key ? before.data : undefined, error }))
      } finally {
        isAsking = false
      }
      if (everyMs > 0 && !over.signal.aborted && !document.hidden) timer = setTimeout(() => void run(), everyMs)
    }
    const shown = (): void => {
      clearTimeout(timer)
      if (!document.hidden && everyMs > 0) void run()
    }
    again.current = () => void run()
    document.addEventListener('visibilitychange', shown)
    void run()
    return () => {
      over.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [key, everyMs])

  const reload = useCallback(() => again.current(), [])
  return state.key === key
    ? { data: state.data, error: state.error, reload }
    : { data: undefined, error: undefined, reload }
}

/** How often lists are asked anew. */
export const liveMs = 2000
