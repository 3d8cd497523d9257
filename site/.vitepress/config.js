// The site renders the Markdown pages of the repository: README.md is the front page, and docs/README.md defines the
// sidebar.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPage, PAGES } from '../pages.js';
import { sidebar } from '../sidebar.js';
import { slugify } from '../slugify.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Pages load only files of this site, even if their content refers to others. Inline scripts and styles are
 * VitePress's.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
].join('; ');

/** Files that pages link to and that are not pages: they are copied unchanged to the site. */
const linkedFiles = new Set();

/** Resolves Vue from site/ during rendering: the pages are outside that folder, and no other folder has Vue. */
const vueOfTheSite = {
  name: 'vue-of-the-site',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : undefined,
};

export default {
  title: 'Floodgate',
  description: 'Keeps floods off Ethereum nodes and authoritative DNS servers.',
  lang: 'en',
  srcDir: root,
  outDir: join(root, 'dist/site'),
  cacheDir: join(root, 'site/node_modules/.cache'),
  // Without this list, all Markdown files below the root become pages, including those of packages and tests.
  srcExclude: [
    '**/node_modules/**',
    '**/.*/**',
    'dist/**',
    'release/**',
    'test/**',
    'console/**',
    'deploy/**',
    '.github/**',
    'floodgate-data/**',
  ],
  rewrites: Object.fromEntries(
    PAGES.filter((page) => page.endsWith('README.md')).map((page) => [
      page,
      page.replace('README.md', 'index.md'),
    ]),
  ),
  head: [['meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }]],
  lastUpdated: false,
  vite: { plugins: [vueOfTheSite] },
  markdown: {
    // The same anchors as on GitHub, so that links work in both.
    anchor: { slugify },
    config(md) {
      md.core.ruler.push('files', (state) => {
        const page = join(root, state.env.relativePath ?? '');
        for (const { children } of state.tokens)
          for (const token of children ?? []) if (token.type === 'link_open') linkFile(token, page);
      });
    },
  },
  themeConfig: {
    sidebar: sidebar(root),
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Compared', link: '/docs/start/comparison' },
      { text: 'Benchmarks', link: '/bench/' },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
  },
  buildEnd: async ({ outDir }) => {
    const { cp } = await import('node:fs/promises');
    for (const file of linkedFiles) await cp(join(root, file), join(outDir, file));
  },
};

/**
 * Points links to files that are not pages to their copies. Links to folders without a README.md are left unchanged.
 */
function linkFile(token, page) {
  const href = token.attrGet('href') ?? '';
  if (/^[a-z]+:|^#|^\//.test(href)) return;
  const file = relative(root, resolve(dirname(page), decodeURI(href.replace(/[#?].*/, ''))));
  const path = join(root, file);
  // VitePress expects the paths after its rewrites.
  if (isPage(file)) return token.attrSet('href', href.replace(/README\.md(?=$|#)/, 'index.md'));
  if (!existsSync(path)) return; // VitePress reports missing files itself
  if (statSync(path).isDirectory()) {
    if (isPage(join(file, 'README.md'))) token.attrSet('href', `/${file}/`);
    return;
  }
  linkedFiles.add(file);
  token.attrSet('href', `/${file}`);
  token.attrSet('target', '_blank');
}
