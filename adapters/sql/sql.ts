/** What a driver takes as a parameter. Rows travel as one JSON text, texts also as an array, never with null inside. */
export type Value = string | number | null | readonly string[]

/** A piece of SQL and its values: values are never part of the text. */
export interface Sql {
  readonly parts: readonly string[]
  readonly values: readonly Value[]
}

/** Writes SQL where it runs: what stands in `${}` becomes a parameter or, if it is a piece of SQL, part of the text. */
export function sql(strings: TemplateStringsArray, ...inserts: readonly (Value | Sql)[]): Sql {
  const parts = [strings[0]!] // a template has at least one string
  const values: Value[] = []
  inserts.forEach((insert, i) => {
    const following = strings[i + 1]!
    if (isSql(insert)) {
      parts[parts.length - 1] += insert.parts[0]!
      parts.push(...insert.parts.slice(1))
      values.push(...insert.values)
      parts[parts.length - 1] += following
    } else {
      values.push(insert)
      parts.push(following)
    }
  })
  return { parts, values }
}

/** Text that is SQL itself. Only for words of ours, never for what came from outside. */
export function raw(text: string): Sql {
  return { parts: [text], values: [] }
}

export const nothing = raw('')

/** A condition that holds where all of these hold. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.reduce((before, each) => sql`${before} and ${each}`, raw('true'))
}

/** The text with numbered parameters. */
export function textOf({ parts }: Sql): string {
  return parts.reduce((text, part, i) => `${text}$${i}${part}`)
}

function isSql(insert: Value | Sql): insert is Sql {
  return typeof insert === 'object' && insert !== null && 'parts' in insert
}
