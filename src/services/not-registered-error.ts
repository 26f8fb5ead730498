/** A row names a plugin that is not registered in this process. It may be registered in others. */
export class NotRegisteredError extends Error {
  constructor(name: string) {
    super(`plugin '${name}' is not registered in this process`)
    this.name = 'NotRegisteredError'
  }
}
