import { applicators, type Check, type Seen } from './applicators.ts'
import { assertions, type AssertionTools } from './assertions.ts'
import { keywordsOf } from './keywords.ts'
import type { Library, Place } from './library.ts'
import { type Making, spendOn } from './making.ts'
import type { Pattern, PatternCompiler } from './pattern.ts'
import { type Document, isDocument, isSchema, type Schema } from './schema.ts'
import { descend, every, refuse, spend, TooMuchWork } from './work.ts'

export interface Compiler {
  check(place: Place): Check
}

export interface Problem {
  readonly path: readonly string[]
  readonly reason: string
}

interface CompilerTools extends Omit<AssertionTools, 'pattern' | 'budget'> {
  readonly pattern: PatternCompiler
  readonly making: Making
  /** Whether any schema asks which parts others looked at. */
  readonly tracksSeen: boolean
}

/** Makes checks of schemas. `report` gets what no check can be made of, such as an invalid pattern. */
export function makeCompiler(library: Library, tools: CompilerTools, report: (problem: Problem) => void): Compiler {
  return new SchemaCompiler(library, tools, report)
}

type Keywords = ReturnType<typeof keywordsOf>

class SchemaCompiler implements Compiler {
  readonly #library: Library
  readonly #tools: CompilerTools
  readonly #report: (problem: Problem) => void
  readonly #draft: CompilerTools['dialect']['draft']
  readonly #known = new Map<Document, Check>()

  constructor(library: Library, tools: CompilerTools, report: (problem: Problem) => void) {
    this.#library = library
    this.#tools = tools
    this.#report = report
    this.#draft = tools.dialect.draft
  }

  readonly check = (place: Place): Check => {
    const { schema } = place
    if (typeof schema === 'boolean') {
      return (_value, work) => {
        spend(work, 1)
        return schema || refuse(work, 'value is not allowed')
      }
    }
    const made = this.#known.get(schema)
    if (made !== undefined) return made
    const tracksScope = this.#draft >= 2019
    const { tracksSeen } = this.#tools
    let steps: readonly Check[] = []
    const whole: Check = (value, work, seen) => {
      descend(work)
      const entered = tracksScope && work.scope.at(-1) !== place.base
      if (entered) work.scope.push(place.base)
      const ownSeen: Seen | undefined = tracksSeen ? { keys: new Set(), items: new Set() } : undefined
      const accepted = every(steps, work, (step) => step(value, work, ownSeen))
      if (accepted && seen !== undefined && ownSeen !== undefined) {
        spend(work, 2 * (ownSeen.keys.size + ownSeen.items.size))
        for (const key of ownSeen.keys) seen.keys.add(key)
        for (const item of ownSeen.items) seen.items.add(item)
      }
      if (entered) work.scope.pop()
      work.depth--
      return accepted
    }
    this.#known.set(schema, whole)
    steps = this.#stepsOf(schema, place)
    return whole
  }

  #stepsOf(schema: Document, place: Place): readonly Check[] {
    // Before 2019-09, what stands beside a reference is ignored.
    if (this.#draft <= 7 && typeof schema.$ref === 'string') return this.#references(schema, place, ['$ref'])
    const dynamic = this.#draft === 2019 ? ['$recursiveRef'] : this.#draft === 2020 ? ['$dynamicRef'] : []
    spendOn(this.#tools.making, 'size', 20 * (1 + Object.keys(schema).length))
    const keywords = keywordsOf(schema, this.#draft)
    const plain = this.#assertionsOf(keywords, place)
    const parts = this.#applicatorsOf(keywords, place)
    return [...this.#references(schema, place, ['$ref', ...dynamic]), ...plain, ...parts]
  }

  #pattern(place: Place, source: string, ...path: readonly string[]): Pattern {
    try {
      return this.#tools.pattern(source, this.#tools.making)
    } catch (thrown) {
      if (thrown instanceof TooMuchWork) throw thrown
      const reason = `invalid pattern: ${(thrown as Error).message}` // what compilers of patterns throw
      this.#report({ path: [...place.path, ...path], reason })
      return () => true
    }
  }

  #assertionsOf(keywords: Keywords, place: Place): readonly Check[] {
    const pattern = (source: string) => this.#pattern(place, source, 'pattern')
    const own = { ...this.#tools, budget: this.#tools.making, pattern }
    return Object.entries(keywords)
      .map(([keyword, argument]) => (Object.hasOwn(assertions, keyword) ? assertions[keyword]?.(argument, own) : null))
      .filter((each) => each !== null && each !== undefined)
  }

  #applicatorsOf(keywords: Keywords, place: Place): readonly Check[] {
    const inner = (schema: Schema) =>
      this.check((isDocument(schema) ? this.#library.place(schema) : undefined) ?? { ...place, schema })
    const map = (keyword: string) =>
      Object.entries(isDocument(keywords[keyword]) ? keywords[keyword] : {}).flatMap(([name, value]) =>
        isSchema(value) ? [[name, inner(value)] as const] : [],
      )
    return applicators({
      draft: this.#draft,
      one: (keyword) => (isSchema(keywords[keyword]) ? inner(keywords[keyword]) : null),
      list: (keyword) => (Array.isArray(keywords[keyword]) ? keywords[keyword].filter(isSchema).map(inner) : null),
      map,
      patterns: (keyword) =>
        map(keyword).map(([source, check]) => [this.#pattern(place, source, keyword, source), check]),
      number: (keyword, byDefault) => Number(keywords[keyword] ?? byDefault),
    })
  }

  #references(schema: Document, place: Place, keywords: readonly string[]): readonly Check[] {
    return keywords.flatMap((keyword) => {
      const text = schema[keyword]
      if (typeof text !== 'string') return []
      const target = this.#library.resolve(text, place.base)
      if (target === null) {
        const reason = `reference ${JSON.stringify(text.slice(0, 200))} does not resolve inside the schema`
        this.#report({ path: [...place.path, keyword], reason })
        return []
      }
      const usual = this.check(target.place)
      const name = keyword === '$recursiveRef' ? '' : target.anchor
      if (keyword === '$ref' || name === null || this.#library.dynamic(target.place.base, name) !== target.place)
        return usual
      const followed: Check = (value, work, seen) => {
        const base = work.scope.find((base) => {
          spend(work, 1 + base.length / 16)
          return this.#library.dynamic(base, name) !== undefined
        })
        const found = base === undefined ? undefined : this.#library.dynamic(base, name)
        return (found === undefined ? usual : this.check(found))(value, work, seen)
      }
      return followed
    })
  }
}
