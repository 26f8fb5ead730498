import { PosthornError } from '../../errors.ts'

/** A value that cannot be opened. `lasts`: whether the same process will not open the value later either. */
export class UnopenedError extends PosthornError {
  readonly lasts: boolean

  constructor(message: string, lasts: boolean) {
    super('unavailable', message)
    this.lasts = lasts
  }
}
