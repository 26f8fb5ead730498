export { memory, type MemoryOptions } from './memory.ts'
export type { MemoryTransaction } from './transaction.ts'
