import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const inside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The page needs nothing but its own files, named after what is in them: served for ever, and from memory. */
export default defineConfig({
  root: inside('.'),
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: inside('../dist/console/web'),
    emptyOutDir: true,
    target: 'es2023',
    // Text that becomes a script or an inlined file would need more than the page's policy allows.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
