import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const inside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the console. The names of assets contain a content hash, so the server sends them as immutable. */
export default defineConfig({
  root: inside('.'),
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: inside('../dist/server/console/web'),
    emptyOutDir: true,
    target: 'es2023',
    // The Content Security Policy forbids inline scripts, and `data:` URLs of anything but images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
