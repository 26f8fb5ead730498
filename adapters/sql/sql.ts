/** What a driver takes as a parameter. Rows travel as one JSON text, texts also as an array, never with null inside. */
export type Value = string | number | null | readonly string[]

/** A piece of SQL and its values: values are never part of the text. */
export interface Sql {
  readonly shape: Shape
  readonly values: readonly Value[]
}

/** What a piece of SQL says, without its values: pieces that are written alike share a shape, so that it is made once. */
export interface Shape {
  /** The text before, between and behind the values. */
  readonly parts: readonly string[]
  /** The text with numbered parameters, once it was asked for. */
  text: string | null
}

/** A tree of what was written: each insert leads on to a stem, a piece of SQL by its shape, and any value by `aValue`. */
interface Stem {
  shape: Shape | null
  readonly next: Map<object, Stem>
}

const aValue = {}
/** When there are more stems and words, all are forgotten, and made again as they are asked for. */
const maxStems = 20_000
const templates = new Map<TemplateStringsArray, Stem>()
const words = new Map<string, Shape>()
const joins: Stem = { shape: null, next: new Map() }
let stems = 0

/** Writes SQL where it runs: what stands in `${}` becomes a parameter or, if it is a piece of SQL, part of the text. */
export function sql(strings: TemplateStringsArray, ...inserts: readonly (Value | Sql)[]): Sql {
  let stem = templates.get(strings) ?? grown(templates, strings)
  const values: Value[] = []
  for (const insert of inserts) {
    const key = isSql(insert) ? insert.shape : aValue
    stem = stem.next.get(key) ?? grown(stem.next, key)
    if (!isSql(insert)) values.push(insert)
    else for (const value of insert.values) values.push(value)
  }
  stem.shape ??= { parts: partsOf(strings, inserts), text: null }
  return { shape: stem.shape, values }
}

/** Pieces one behind another. */
export function joined(pieces: readonly Sql[]): Sql {
  let stem = joins
  const values: Value[] = []
  for (const piece of pieces) {
    stem = stem.next.get(piece.shape) ?? grown(stem.next, piece.shape)
    for (const value of piece.values) values.push(value)
  }
  stem.shape ??= { parts: partsOf(['', ...pieces.map(() => '')], pieces), text: null }
  return { shape: stem.shape, values }
}

/** Text that is SQL itself. Only for words of ours, never for what came from outside. */
export function raw(text: string): Sql {
  let shape = words.get(text)
  if (shape === undefined) {
    counted()
    words.set(text, (shape = { parts: [text], text: null }))
  }
  return { shape, values: [] }
}

export const nothing = raw('')

/** A condition that holds where all of these hold. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.reduce((before, each) => sql`${before} and ${each}`, raw('true'))
}

/** The text with numbered parameters. */
export function textOf({ shape }: Sql): string {
  return (shape.text ??= shape.parts.reduce((text, part, i) => `${text}$${i}${part}`))
}

function partsOf(strings: readonly string[], inserts: readonly (Value | Sql)[]): readonly string[] {
  const parts = [strings[0]!] // a template has at least one string
  inserts.forEach((insert, i) => {
    const following = strings[i + 1]!
    if (isSql(insert)) {
      const [first, ...rest] = insert.shape.parts
      parts[parts.length - 1] += first!
      parts.push(...rest)
      parts[parts.length - 1] += following
    } else parts.push(following)
  })
  return parts
}

function grown<Key extends object>(stemsBy: Map<Key, Stem>, key: Key): Stem {
  counted()
  const stem: Stem = { shape: null, next: new Map() }
  stemsBy.set(key, stem)
  return stem
}

function counted(): void {
  if (++stems <= maxStems) return
  templates.clear()
  joins.next.clear()
  words.clear()
  stems = 0
}

function isSql(insert: Value | Sql): insert is Sql {
  return typeof insert === 'object' && insert !== null && 'shape' in insert
}
