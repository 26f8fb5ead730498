import type { Processes } from '../../src/contracts/storage/processes.ts'
import type { Access } from './state.ts'

export function memoryProcesses(access: Access): Processes {
  return {
    seen: (process, before) =>
      access.write((state) => {
        state.processes.set(process.id, { ...process })
        for (const { id, seen_at } of state.processes.values()) if (seen_at < before) state.processes.delete(id)
      }),
    list: (since) =>
      access.read((state) =>
        [...state.processes.values()]
          .filter(({ seen_at }) => seen_at >= since)
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .map((process) => ({ ...process })),
      ),
  }
}
