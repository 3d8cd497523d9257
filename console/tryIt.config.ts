import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vite';
import shared from './vite.config.ts';

/**
 * Builds the API explorer that works without the console: `page.js` and `page.css`, which the HTML of the server
 * references.
 */
export default mergeConfig(
  shared,
  defineConfig({
    build: {
      outDir: fileURLToPath(new URL('../dist/platform/page/tryIt', import.meta.url)),
      rolldownOptions: {
        input: fileURLToPath(new URL('src/tryIt/page.tsx', import.meta.url)),
        output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
      },
    },
  }),
);
