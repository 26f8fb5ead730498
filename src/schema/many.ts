import * as v from 'valibot'

import { maxReasons, unlisted } from '../errors.ts'

// A body can hold millions of wrong elements. What is reported of them, and held in memory, is bounded here.

type Report = (issue: { message: string; path?: [v.IssuePathItem, ...v.IssuePathItem[]] }) => void

/** Passes on as many reasons as one error may hold. `end` passes on the number of the others. */
export function bounded(report: Report): { readonly report: Report; end(): void } {
  let listed = 0
  let more = 0
  return {
    report(issue) {
      if (listed++ < maxReasons) report(issue)
      else more++
    },
    end: () => more > 0 && report({ message: `${more} more`, path: [unlistedAt(more)] }),
  }
}

function unlistedAt(count: number): v.IssuePathItem {
  return { type: 'unknown', origin: 'value', input: undefined, key: unlisted, value: count }
}

/**
 * `v.array` that looks into no list of more than `max` items, and that keeps at most a hundred reasons of its items.
 */
export function boundedArray<Item extends v.GenericSchema>(
  item: Item,
  max: number,
  message: (issue: { input: unknown }) => string,
): v.ArraySchema<Item, (issue: { input: unknown }) => string> {
  const array = v.array(item, message)
  return {
    ...array,
    '~run'(dataset, config) {
      const input: unknown = dataset.value
      if (!Array.isArray(input)) return array['~run'](dataset, config)
      if (input.length > max) {
        const issue = {
          kind: 'schema',
          type: 'array',
          input,
          expected: null,
          received: '',
          message: `maximum number of items is ${max}`,
        }
        return { value: input, typed: false, issues: [issue] } as never
      }
      const issues: v.BaseIssue<unknown>[] = []
      let typed = true
      let more = 0
      const value = input.map((one: unknown, key) => {
        const looked = item['~run']({ value: one }, config)
        typed &&= looked.typed
        for (const issue of looked.issues ?? []) {
          const path = issue.path as v.IssuePathItem[] | undefined
          const last = path?.at(-1)
          if (issues.length >= maxReasons) more += last?.key === unlisted ? (last.value as number) : 1
          else {
            const at: v.IssuePathItem = { type: 'array', origin: 'value', input, key, value: one }
            issues.push({ ...issue, path: [at, ...(path ?? [])] })
          }
        }
        return looked.value
      })
      if (issues.length === 0) return { value, typed: true } as never
      if (more > 0) issues.push({ ...issues[0]!, path: [unlistedAt(more)] })
      return { value, typed, issues } as never
    },
  }
}
