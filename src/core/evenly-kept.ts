/**
 * Values of many tenants, at most `max` of all together. Once they are so many, the tenant who has the most loses the value that
 * was set longest ago: one tenant alone may have all, and pushes nobody else's out.
 */
export class EvenlyKept<Value> {
  readonly #max: number
  readonly #byTenant = new Map<string, Map<string, Value>>()
  #size = 0

  constructor(max: number) {
    this.#max = max
  }

  get(tenant: string, key: string): Value | undefined {
    return this.#byTenant.get(tenant)?.get(key)
  }

  set(tenant: string, key: string, value: Value): void {
    this.delete(tenant, key)
    const own = this.#byTenant.get(tenant)
    if (own === undefined) this.#byTenant.set(tenant, new Map([[key, value]]))
    else own.set(key, value)
    if (++this.#size > this.#max) this.#dropOne()
  }

  delete(tenant: string, key: string): void {
    const own = this.#byTenant.get(tenant)
    if (own === undefined || !own.delete(key)) return
    this.#size--
    if (own.size === 0) this.#byTenant.delete(tenant)
  }

  *values(): Generator<Value, void> {
    for (const own of this.#byTenant.values()) yield* own.values()
  }

  #dropOne(): void {
    let most: [string, ReadonlyMap<string, Value>] | undefined
    for (const each of this.#byTenant) if (most === undefined || each[1].size > most[1].size) most = each
    const [tenant, own] = most! // it was just added to
    for (const key of own.keys()) return this.delete(tenant, key)
  }
}
