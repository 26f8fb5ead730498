import type { Reporter } from 'vitest/reporters'

/** Closes the run with one plain line, `12 passed, 0 failed`. A file or a run that broke outside a test counts as failed. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(...[files, errors]: Parameters<NonNullable<Reporter['onTestRunEnd']>>): void {
    const states = files.flatMap((file) => {
      const tests = [...file.children.allTests()].map((test) => test.result().state)
      return file.state() === 'failed' && !tests.includes('failed') ? [...tests, 'failed'] : tests
    })
    const count = (state: string) => states.filter((each) => each === state).length
    const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : ''
    process.once('exit', () => {
      process.stdout.write(`${count('passed')} passed, ${count('failed') + errors.length} failed${skipped}\n`)
    })
  }
}
