/** How the value of a setting is read, from the text of a variable or from a value of the configuration file. */
export interface Kind<Value> {
  /** What values the setting takes, for the table of settings. */
  readonly form: string
  /** @throws Error with the rule that the value breaks. */
  read(given: unknown): Value
}

function wrong(rule: string): never {
  throw new Error(`must be ${rule}`)
}

export function text(form = 'text', rule: (value: string) => boolean = (value) => value !== ''): Kind<string> {
  return { form, read: (given) => (typeof given === 'string' && rule(given) ? given : wrong(form)) }
}

export function url(...protocols: readonly string[]): Kind<string> {
  const form = `a url that begins with ${protocols.map((each) => `${each}//`).join(' or ')}`
  return text(form, (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol))
}

export function integer({ min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }): Kind<number> {
  const form = max === Number.MAX_SAFE_INTEGER ? `an integer from ${min}` : `an integer from ${min} to ${max}`
  return {
    form,
    read(given) {
      const number = typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given
      return Number.isSafeInteger(number) && (number as number) >= min && (number as number) <= max
        ? (number as number) // a safe integer is a number
        : wrong(form)
    },
  }
}

export function flag(): Kind<boolean> {
  const words: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }
  return {
    form: 'true or false',
    read: (given) => (typeof given === 'boolean' ? given : (words[String(given)] ?? wrong('true or false'))),
  }
}

export function oneOf<const Values extends readonly string[]>(...values: Values): Kind<Values[number]> {
  const form = `one of ${values.join(', ')}`
  return { form, read: (given) => (values.includes(given as string) ? (given as Values[number]) : wrong(form)) }
}

/** A key of the option `secrets`, as `2026-11:<32 bytes in base64>`. */
export function sealingKey(): Kind<{ readonly id: string; readonly key: string }> {
  const form = 'id:key, where the key is 32 bytes in base64'
  return {
    form,
    read(given) {
      const [, id, key] = /^([\w.-]{1,64}):([A-Za-z0-9+/]{43}=?)$/.exec(String(given)) ?? []
      return id !== undefined && key !== undefined ? { id, key } : wrong(form)
    },
  }
}

/** From `min` to `max` elements; in a variable, separated by commas. An empty text is an empty list. */
export function list<Value>(
  element: Kind<Value>,
  form: string,
  { min = 0, max = Infinity }: { min?: number; max?: number } = {},
): Kind<readonly Value[]> {
  return {
    form,
    read(given) {
      const parts: unknown = typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given
      if (!Array.isArray(parts)) return wrong(form)
      const elements = parts.filter((part) => part !== '')
      if (elements.length < min || elements.length > max) return wrong(form)
      return elements.map((each) => {
        try {
          return element.read(each)
        } catch {
          return wrong(form)
        }
      })
    },
  }
}
