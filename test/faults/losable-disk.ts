import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system that loses at a power cut what was not synced. */
export interface LosableDisk {
  readonly folder: string
  /** Cuts the power and brings the disk back. Whoever wrote to it has been killed before. */
  cut(): void
  remove(): void
}

/**
 * An ext4 on an image: what the kernel has not yet written to the image is not in a copy of it.
 * Null where none may be mounted.
 */
export function losableDisk(): LosableDisk | null {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-disk-'))
  const folder = join(home, 'disk')
  const image = join(home, 'image')
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' })
  const mount = (from: string) => run('mount', '-o', 'loop', from, folder)
  const remove = () => {
    process.off('exit', remove)
    run('umount', '-l', folder)
    rmSync(home, { recursive: true, force: true })
  }
  try {
    mkdirSync(folder)
    run('truncate', '-s', '256M', image)
    run('mkfs.ext4', '-q', '-F', image)
    mount(image)
  } catch {
    rmSync(home, { recursive: true, force: true })
    return null
  }
  process.once('exit', remove)
  return {
    folder,
    remove,
    cut() {
      const survived = join(home, 'survived')
      copyFileSync(image, survived)
      run('umount', folder)
      mount(survived)
    },
  }
}
