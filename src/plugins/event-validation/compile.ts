import { type Assertion, assertions, type AssertionTools, draft4Bounds } from './assertions.ts'
import type { Library, Place } from './library.ts'
import { type Pattern } from './pattern.ts'
import { isDocument, isSchema, type Schema } from './schema.ts'
import { descend, refuse, spend, type Work } from './work.ts'

/** Which parts of one value were looked at by keywords that accepted it: what `unevaluated…` leaves out. */
interface Seen {
  readonly keys: Set<string>
  readonly items: Set<number>
}

/** Looks at a value for a whole schema. What it saw of the value goes into `seen`, if the value is accepted. */
export type Check = (value: unknown, work: Work, seen?: Seen) => boolean
type Step = (value: unknown, work: Work, seen: Seen | undefined) => boolean

export interface Compiler {
  check(place: Place): Check
}

export interface Problem {
  readonly path: readonly string[]
  readonly reason: string
}

/** Makes checks of schemas; what cannot be made one, such as an invalid pattern, is told by `report`. */
export function makeCompiler(library: Library, tools: AssertionTools, report: (problem: Problem) => void): Compiler {
  const { draft } = tools.dialect
  const known = new Map<Schema, Check>()

  function check(place: Place): Check {
    const { schema } = place
    if (schema === true) return () => true
    if (schema === false) return (_value, work) => refuse(work, 'value is not allowed')
    const made = known.get(schema)
    if (made !== undefined) return made
    let steps: readonly Step[] = []
    const whole: Check = (value, work, seen) => {
      descend(work)
      const entered = draft >= 2019 && work.scope.at(-1) !== place.base
      if (entered) work.scope.push(place.base)
      const mine: Seen | undefined = tools.tracksSeen ? { keys: new Set(), items: new Set() } : undefined
      let accepted = true
      for (const step of steps) {
        if (step(value, work, mine)) continue
        accepted = false
        if (work.reasons === null || work.quiet > 0) break
      }
      if (accepted && seen !== undefined && mine !== undefined) {
        for (const key of mine.keys) seen?.keys.add(key)
        for (const item of mine.items) seen.items.add(item)
      }
      if (entered) work.scope.pop()
      work.depth--
      return accepted
    }
    known.set(schema, whole)
    steps = stepsOf(schema, place)
    return whole
  }

  function stepsOf(schema: Readonly<Record<string, unknown>>, place: Place): readonly Step[] {
    const at = (...path: readonly string[]) => [...place.path, ...path]
    const inner = (schema: Schema, ...path: readonly string[]): Check =>
      check((isDocument(schema) ? library.place(schema) : undefined) ?? { schema, base: place.base, path: at(...path) })
    const one = (keyword: string): Check | null => {
      const value = schema[keyword]
      return isSchema(value) ? inner(value, keyword) : null
    }
    const list = (keyword: string): readonly Check[] | null => {
      const value = schema[keyword]
      return Array.isArray(value) ? value.filter(isSchema).map((item, i) => inner(item, keyword, String(i))) : null
    }
    const map = (keyword: string): readonly (readonly [string, Check])[] =>
      Object.entries(isDocument(schema[keyword]) ? schema[keyword] : {}).flatMap(([name, value]) =>
        isSchema(value) ? [[name, inner(value, keyword, name)] as const] : [],
      )
    const pattern = (source: string, ...path: readonly string[]): Pattern => {
      try {
        return tools.pattern(source)
      } catch (thrown) {
        report({ path: at(...path), reason: `invalid pattern: ${(thrown as Error).message}` })
        return () => true
      }
    }
    const reference = (keyword: string): Step | null => {
      const text = schema[keyword]
      if (typeof text !== 'string') return null
      const target = library.resolve(text, place.base)
      if (target === null) {
        report({ path: at(keyword), reason: `reference ${JSON.stringify(text)} does not resolve inside the schema` })
        return null
      }
      const usual = check(target.place)
      const name = keyword === '$recursiveRef' ? '' : target.anchor
      if (keyword === '$ref' || name === null || library.dynamic(target.place.base, name) !== target.place) return usual
      return (value, work, seen) => {
        const base = work.scope.find((base) => library.dynamic(base, name) !== undefined)
        const found = base === undefined ? undefined : library.dynamic(base, name)
        return (found === undefined ? usual : check(found))(value, work, seen)
      }
    }

    const steps: (Step | null)[] = [reference('$ref')]
    // Before 2019-09, what stands beside a reference is ignored.
    if (draft <= 7 && typeof schema.$ref === 'string') return steps.filter((step) => step !== null)
    if (draft === 2019) steps.push(reference('$recursiveRef'))
    if (draft === 2020) steps.push(reference('$dynamicRef'))

    const patterned = { ...tools, pattern: (source: string) => pattern(source, 'pattern') }
    const plain: (Assertion | null)[] = Object.entries(schema).map(([keyword, argument]) =>
      Object.hasOwn(assertions, keyword) ? (assertions[keyword]?.(argument, patterned) ?? null) : null,
    )
    if (draft === 4) plain.push(...draft4Bounds(schema, tools))
    steps.push(...plain)

    steps.push(...combinations({ one, list }), ...objects(), ...arrays())
    return steps.filter((step) => step !== null)

    function objects(): (Step | null)[] {
      const properties = map('properties')
      const patterns = map('patternProperties').map(
        ([source, check]) => [pattern(source, 'patternProperties', source), check] as const,
      )
      const additional = one('additionalProperties')
      const named = new Set(properties.map(([name]) => name))
      const names = draft >= 6 ? one('propertyNames') : null
      const unevaluated = draft >= 2019 ? one('unevaluatedProperties') : null
      const dependencies = [...(draft >= 2019 ? map('dependentSchemas') : []), ...map('dependencies')]
      const required = Object.entries(isDocument(schema.dependencies) ? schema.dependencies : {}).flatMap(
        ([name, names]) => (Array.isArray(names) ? [[name, names as readonly string[]] as const] : []),
      )
      const touches = properties.length > 0 || patterns.length > 0 || additional !== null
      return [
        touches
          ? onObjects((object, work, seen) => {
              let accepted = true
              for (const [name, check] of properties) {
                if (!Object.hasOwn(object, name)) continue
                seen?.keys.add(name)
                accepted = inside(work, name, () => check(object[name], work)) && accepted
              }
              if (patterns.length === 0 && additional === null) return accepted
              for (const [key, value] of Object.entries(object)) {
                let matched = named.has(key)
                for (const [matches, check] of patterns) {
                  if (!matches(key, work)) continue
                  matched = true
                  seen?.keys.add(key)
                  accepted = inside(work, key, () => check(value, work)) && accepted
                }
                if (matched || additional === null) continue
                seen?.keys.add(key)
                accepted = inside(work, key, () => additional(value, work)) && accepted
              }
              return accepted
            })
          : null,
        names === null
          ? null
          : onObjects((object, work) => Object.keys(object).every((key) => inside(work, key, () => names(key, work)))),
        required.length === 0
          ? null
          : onObjects((object, work) =>
              required.every(
                ([name, names]) =>
                  !Object.hasOwn(object, name) ||
                  names.every((other) => Object.hasOwn(object, other)) ||
                  refuse(work, `a property that ${JSON.stringify(name)} asks for is missing`),
              ),
            ),
        dependencies.length === 0
          ? null
          : onObjects((object, work, seen) =>
              dependencies.every(([name, check]) => !Object.hasOwn(object, name) || check(object, work, seen)),
            ),
        unevaluated === null
          ? null
          : onObjects((object, work, seen) =>
              Object.entries(object).every(([key, value]) => {
                if (seen?.keys.has(key) === true) return true
                seen?.keys.add(key)
                return inside(work, key, () => unevaluated(value, work))
              }),
            ),
      ]
    }

    function arrays(): (Step | null)[] {
      const tuple = draft === 2020 ? list('prefixItems') : list('items')
      const rest = draft === 2020 || tuple === null ? one('items') : one('additionalItems')
      const contains = draft >= 6 ? one('contains') : null
      const [least, most] = draft >= 2019 ? [schema.minContains ?? 1, schema.maxContains ?? Infinity] : [1, Infinity]
      const unevaluated = draft >= 2019 ? one('unevaluatedItems') : null
      return [
        tuple === null && rest === null
          ? null
          : onArrays((items, work, seen) => {
              let accepted = true
              for (const [at, item] of items.entries()) {
                const check = tuple?.[at] ?? rest
                if (check === null) break
                seen?.items.add(at)
                accepted = inside(work, at, () => check(item, work)) && accepted
                if (!accepted && work.reasons === null) break
              }
              return accepted
            }),
        contains === null
          ? null
          : onArrays((items, work, seen) => {
              let count = 0
              for (const [at, item] of items.entries()) {
                if (!quietly(work, () => contains(item, work))) continue
                count++
                if (draft === 2020) seen?.items.add(at)
              }
              return (
                (count >= Number(least) && count <= Number(most)) ||
                refuse(work, 'the array does not contain what it must')
              )
            }),
        unevaluated === null
          ? null
          : onArrays((items, work, seen) =>
              items.every((item, at) => {
                if (seen?.items.has(at) === true) return true
                seen?.items.add(at)
                return inside(work, at, () => unevaluated(item, work))
              }),
            ),
      ]
    }

    function combinations({
      one,
      list,
    }: {
      one(keyword: string): Check | null
      list(keyword: string): readonly Check[] | null
    }) {
      const all = list('allOf')
      const any = list('anyOf')
      const exactly = list('oneOf')
      const not = one('not')
      const condition = draft >= 7 ? one('if') : null
      const then = one('then')
      const otherwise = one('else')
      const found: (Step | null)[] = [
        all && ((value, work, seen) => all.map((check) => check(value, work, seen)).every(Boolean)),
        any &&
          ((value, work, seen) =>
            // All of them are asked, since each that accepts tells what it saw.
            quietly(work, () => any.filter((check) => check(value, work, seen)).length > 0) ||
            refuse(work, 'value does not match any of the allowed forms')),
        exactly &&
          ((value, work, seen) => {
            const count = quietly(work, () => exactly.filter((check) => check(value, work, seen)).length)
            return count === 1 || refuse(work, `value must match one of the allowed forms, and matches ${count}`)
          }),
        not &&
          ((value, work) =>
            !quietly(work, () => not(value, work)) || refuse(work, 'value has a form that is not allowed')),
        condition &&
          ((value, work, seen) => {
            const next = quietly(work, () => condition(value, work, seen)) ? then : otherwise
            return next === null || next(value, work, seen)
          }),
      ]
      return found
    }
  }

  return { check }
}

function onObjects(
  step: (object: Readonly<Record<string, unknown>>, work: Work, seen: Seen | undefined) => boolean,
): Step {
  return (value, work, seen) => {
    if (!isDocument(value)) return true
    return step(value, work, seen)
  }
}

function onArrays(step: (items: readonly unknown[], work: Work, seen: Seen | undefined) => boolean): Step {
  return (value, work, seen) => {
    if (!Array.isArray(value)) return true
    spend(work, value.length / 16)
    return step(value, work, seen)
  }
}

/** Looks at a part of a value. */
function inside(work: Work, step: string | number, look: () => boolean): boolean {
  work.path.push(step)
  const accepted = look()
  work.path.pop()
  return accepted
}

/** Looks without telling: a failure here need not be one of the whole. */
function quietly<Answer>(work: Work, look: () => Answer): Answer {
  work.quiet++
  const answer = look()
  work.quiet--
  return answer
}
