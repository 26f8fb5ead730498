import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vite'

/** The pages of the browser. `test/support/pages.ts` builds each page into a script and a style sheet. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  logLevel: 'error',
  publicDir: false,
  build: {
    target: 'es2022',
    write: false,
    minify: 'esbuild',
    cssMinify: 'esbuild',
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    assetsInlineLimit: 0,
  },
})
