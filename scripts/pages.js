// Builds the pages of console/ with Vite if a source is newer than the built files. From the command line: node scripts/pages.js.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './compile.js';
import { allIn, isNewer, modifiedMs } from './newer.js';

const SOURCES = join(root, 'console');
/** Each page is built next to the compiled module that serves it. */
const PAGES = [
  { config: 'vite.config.ts', folder: 'dist/server/console/web', file: 'index.html' },
  { config: 'tryIt.config.ts', folder: 'dist/platform/page/tryIt', file: 'page.js' },
];
/** List of the source files of all pages, for the licence notices. Written last: its time is the time of the build. */
const MODULES = join(root, 'dist/pages.json');
const ALSO = ['node_modules/.package-lock.json', 'scripts/pages.js'].map((file) => join(root, file));

const builtFile = ({ folder, file }) => join(root, folder, file);

export async function buildPages() {
  const sources = [...allIn(SOURCES), ...ALSO];
  if ([...PAGES.map(builtFile), MODULES].every((built) => isNewer(built, sources))) return;
  // With vitest's NODE_ENV ("test"), Vite would compile JSX for debugging and include source paths.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  const modules = new Set();
  for (const { config } of PAGES)
    await build({
      configFile: join(SOURCES, config),
      logLevel: 'warn',
      plugins: [{ name: 'modules', moduleParsed: ({ id }) => void modules.add(id) }],
    });
  writeFileSync(MODULES, JSON.stringify([...modules]));
}

/** Copies the built pages next to a bundle. */
export function copyPages(folder) {
  for (const page of PAGES.filter((one) => existsSync(builtFile(one)))) {
    const copy = join(root, folder, basename(page.folder));
    if (modifiedMs(join(copy, page.file)) >= modifiedMs(builtFile(page))) continue;
    rmSync(copy, { recursive: true, force: true });
    cpSync(join(root, page.folder), copy, { recursive: true });
  }
}

/** Returns the source files of the built pages. */
export const pageModules = () => (existsSync(MODULES) ? JSON.parse(readFileSync(MODULES, 'utf8')) : []);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildPages();
