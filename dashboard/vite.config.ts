/**
 * How the app is built. Every address in what comes out is relative, so that it works behind any base path.
 *
 * `npm run dev -w dashboard` serves it while it is being changed, and passes everything else on to a service on port 4600.
 */

import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** While it is being changed there is no service that writes the base into each answer, and no path in front. */
const fixedBase: Plugin = {
  name: 'fixed-base',
  apply: 'serve',
  transformIndexHtml: (html) => html.replace('<base href="./" />', '<base href="/ui/" />'),
}

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  base: command === 'serve' ? '/ui/' : './',
  plugins: [react(), fixedBase],
  build: {
    outDir: 'dist',
    target: 'es2022',
    // These know light-dark(); for older ones it would be rewritten into something that does not follow the scheme.
    cssTarget: ['chrome125', 'firefox128', 'safari17.5'],
    // Small files inside the script as data: addresses would need a wider policy.
    assetsInlineLimit: 0,
    sourcemap: false,
  },
  server: {
    proxy: { '^/(?!ui/)': 'http://127.0.0.1:4600' },
    watch: { ignored: ['**/.dist-*/**'] },
  },
}))
