import { PosthornError } from '../../src/errors.ts'

/** The hash tag with which every key of a namespace begins: `{posthorn}`. A cluster keeps them all on one node. */
export function tagOf(namespace: string): string {
  if (!/^[A-Za-z0-9_.:-]{1,64}$/.test(namespace)) {
    throw new PosthornError('validation', 'redis: namespace must match [A-Za-z0-9_.:-]{1,64}')
  }
  return `{${namespace}}`
}

/** Channels of the hints: jobs were added, messages were put, configuration changed. */
export const addedChannel = (tag: string): string => `${tag}:added`
export const putChannel = (tag: string): string => `${tag}:put`
export const changedChannel = (tag: string): string => `${tag}:changed`
