import type { Pattern } from './pattern.ts'
import { isDocument } from './schema.ts'
import { entriesOf, every, refuse, spend, type Work } from './work.ts'

/** Which parts of one value were looked at by keywords that accepted it: what `unevaluated…` leaves out. */
export interface Seen {
  readonly keys: Set<string>
  readonly items: Set<number>
}

/** Looks at a value for a schema or a keyword of it. What it saw of the value goes into `seen`, if the value is accepted. */
export type Check = (value: unknown, work: Work, seen?: Seen) => boolean
type Named<Key> = readonly (readonly [key: Key, check: Check])[]

/** The schemas inside a schema, by the keyword that they are the argument of. */
export interface Parts {
  readonly draft: number
  one(keyword: string): Check | null
  list(keyword: string): readonly Check[] | null
  map(keyword: string): Named<string>
  patterns(keyword: string): Named<Pattern>
  number(keyword: string, byDefault: number): number
}

/**
 * The keywords that apply schemas to a value or to its parts. `unevaluated…` come last, after all keywords that may
 * have looked at parts.
 */
export function applicators(parts: Parts): readonly Check[] {
  const found: readonly (Check | null)[] = [...combinations(parts), ...objects(parts), ...arrays(parts)]
  return found.filter((each) => each !== null)
}

function combinations({ one, list }: Parts): readonly (Check | null)[] {
  const [all, any, exactly] = [list('allOf'), list('anyOf'), list('oneOf')]
  const [not, condition, then, otherwise] = [one('not'), one('if'), one('then'), one('else')]
  return [
    all && ((value, work, seen) => every(all, work, (check) => check(value, work, seen))),
    // All of them are asked, since each that accepts tells what it saw.
    any &&
      ((value, work, seen) =>
        quietly(work, () => any.filter((check) => check(value, work, seen)).length > 0) ||
        refuse(work, 'value does not match any of the allowed forms')),
    exactly &&
      ((value, work, seen) => {
        const count = quietly(work, () => exactly.filter((check) => check(value, work, seen)).length)
        return count === 1 || refuse(work, `value must match one of the allowed forms, and matches ${count}`)
      }),
    not &&
      ((value, work) => !quietly(work, () => not(value, work)) || refuse(work, 'value has a form that is not allowed')),
    condition &&
      ((value, work, seen) => {
        const next = quietly(work, () => condition(value, work, seen)) ? then : otherwise
        return next === null || next(value, work, seen)
      }),
  ]
}

function objects({ one, map, patterns }: Parts): readonly (Check | null)[] {
  const named = new Map(map('properties'))
  const patterned = patterns('patternProperties')
  const [additional, names, unevaluated] = [
    one('additionalProperties'),
    one('propertyNames'),
    one('unevaluatedProperties'),
  ]
  const dependent = [...map('dependentSchemas'), ...map('dependencies')]
  return [
    named.size === 0 && patterned.length === 0 && additional === null
      ? null
      : onObjects((object, work, seen) =>
          every(entriesOf(object, work), work, ([key, value]) => {
            const own = named.get(key)
            const applied = own === undefined ? [] : [own]
            for (const [matches, check] of patterned) if (matches(key, work)) applied.push(check)
            if (applied.length === 0) {
              if (additional === null) return true
              applied.push(additional)
            }
            seen?.keys.add(key)
            return inside(work, key, () => every(applied, work, (check) => check(value, work)))
          }),
        ),
    names &&
      onObjects((object, work) =>
        every(entriesOf(object, work), work, ([key]) => inside(work, key, () => names(key, work))),
      ),
    dependent.length === 0
      ? null
      : onObjects((object, work, seen) => {
          spend(work, dependent.length / 2)
          return every(dependent, work, ([name, check]) => !Object.hasOwn(object, name) || check(object, work, seen))
        }),
    unevaluated &&
      onObjects((object, work, seen) =>
        every(entriesOf(object, work), work, ([key, value]) => {
          if (seen?.keys.has(key) === true) return true
          seen?.keys.add(key)
          return inside(work, key, () => unevaluated(value, work))
        }),
      ),
  ]
}

function arrays({ draft, one, list, number }: Parts): readonly (Check | null)[] {
  const first = list('prefixItems') ?? []
  const [rest, contains, unevaluated] = [one('items'), one('contains'), one('unevaluatedItems')]
  const [min, max] = [number('minContains', 1), number('maxContains', Infinity)]
  return [
    first.length === 0 && rest === null
      ? null
      : onArrays((items, work, seen) =>
          every((rest === null ? items.slice(0, first.length) : items).entries(), work, ([at, item]) => {
            seen?.items.add(at)
            return inside(work, at, () => (first[at] ?? rest)?.(item, work) ?? true)
          }),
        ),
    contains &&
      onArrays((items, work, seen) => {
        let count = 0
        for (const [at, item] of items.entries()) {
          if (!quietly(work, () => contains(item, work))) continue
          count++
          if (draft === 2020) seen?.items.add(at)
        }
        return (count >= min && count <= max) || refuse(work, 'the array does not contain what it must')
      }),
    unevaluated &&
      onArrays((items, work, seen) =>
        every(items.entries(), work, ([at, item]) => {
          if (seen?.items.has(at) === true) return true
          seen?.items.add(at)
          return inside(work, at, () => unevaluated(item, work))
        }),
      ),
  ]
}

function onObjects(check: (object: Readonly<Record<string, unknown>>, work: Work, seen?: Seen) => boolean): Check {
  return (value, work, seen) => !isDocument(value) || check(value, work, seen)
}

function onArrays(check: (items: readonly unknown[], work: Work, seen?: Seen) => boolean): Check {
  return (value, work, seen) => {
    if (!Array.isArray(value)) return true
    spend(work, value.length / 2)
    return check(value, work, seen)
  }
}

/** Looks at a part of a value. */
function inside(work: Work, step: string | number, look: () => boolean): boolean {
  work.path.push(step)
  const accepted = look()
  work.path.pop()
  return accepted
}

/** Looks without a report: a failure here need not be a failure of the whole. */
function quietly<Answer>(work: Work, look: () => Answer): Answer {
  work.quiet++
  const answer = look()
  work.quiet--
  return answer
}
