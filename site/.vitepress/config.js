// The pages are those of the repository, where they are: README.md is the front page, and docs/README.md the order of the sidebar.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPage, PAGES } from '../pages.js';
import { sidebar } from '../sidebar.js';
import { slugify } from '../slugify.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Nothing but what is built here is loaded, whatever a page has in it. Scripts and styles in pages are VitePress' own. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
].join('; ');

/** Files that pages link to and that are none: they are put beside the pages, as they are. */
const linkedFiles = new Set();

/** While pages are rendered, Vue is that of site/: they stand outside of it, where there is none. */
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
  // All Markdown below the root is taken for a page otherwise, that of packages and tests, too.
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
    // As forges do it: links work in both places.
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
      { text: 'Compared', link: '/docs/comparison' },
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

/** A link to a file that is no page leads to a copy of it; one to a folder without a page leads nowhere, and is text. */
function linkFile(token, page) {
  const href = token.attrGet('href') ?? '';
  if (/^[a-z]+:|^#|^\//.test(href)) return;
  const file = relative(root, resolve(dirname(page), decodeURI(href.replace(/[#?].*/, ''))));
  const path = join(root, file);
  // VitePress takes links as they are after its rewrites.
  if (isPage(file)) return token.attrSet('href', href.replace(/README\.md(?=$|#)/, 'index.md'));
  if (!existsSync(path)) return; // VitePress itself tells of what is not there
  if (statSync(path).isDirectory()) {
    if (isPage(join(file, 'README.md'))) token.attrSet('href', `/${file}/`);
    return;
  }
  linkedFiles.add(file);
  token.attrSet('href', `/${file}`);
  token.attrSet('target', '_blank');
}
