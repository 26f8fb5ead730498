// Bundles and runs both comparisons. The whole official suite is used where JSON_SCHEMA_TEST_SUITE names a checkout of
// github.com/json-schema-org/JSON-Schema-Test-Suite or Debian's package libtest-json-schema-acceptance-perl, which
// carries it, is installed; otherwise the part of it that npm has, for draft-04.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { bundle } from '../support/bundle.js'

const here = fileURLToPath(new URL('.', import.meta.url))

for (const name of ['suite', 'beside-ajv']) {
  const outfile = `${here}.build/${name}.js`
  await bundle(`${here}${name}.ts`, outfile)
  const { status } = spawnSync(process.execPath, [outfile], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
