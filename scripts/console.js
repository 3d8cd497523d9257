// Builds the web console (console/), where something of it is newer than what was built. From the command line: node scripts/console.js.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './compile.js';
import { allIn, isNewer, modifiedMs } from './newer.js';

const SOURCES = join(root, 'console');
const BUILT = join(root, 'dist/console/web');
const PAGE = join(BUILT, 'index.html');
/** The files that the console was made of, for the notices of licences. */
const MODULES = join(root, 'dist/console/modules.json');
const ALSO = ['node_modules/.package-lock.json', 'scripts/console.js'].map((file) => join(root, file));

function isBuilt() {
  const madeOf = [...allIn(SOURCES), ...ALSO];
  return [PAGE, MODULES].every((made) => isNewer(made, madeOf));
}

/** Into dist/console/web, beside the module that serves it. */
export async function buildConsole() {
  if (isBuilt()) return;
  const { build } = await import('vite');
  const modules = new Set();
  await build({
    configFile: join(SOURCES, 'vite.config.ts'),
    logLevel: 'warn',
    plugins: [{ name: 'modules', moduleParsed: ({ id }) => void modules.add(id) }],
  });
  writeFileSync(MODULES, JSON.stringify([...modules]));
}

/** Puts it beside a bundle, which finds it there. */
export function copyConsole(folder) {
  if (!existsSync(PAGE)) return;
  const copy = join(root, folder, 'web');
  if (modifiedMs(join(copy, 'index.html')) >= modifiedMs(PAGE)) return;
  rmSync(copy, { recursive: true, force: true });
  cpSync(BUILT, copy, { recursive: true });
}

/** What it is made of. */
export const consoleModules = () => (existsSync(MODULES) ? JSON.parse(readFileSync(MODULES, 'utf8')) : []);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildConsole();
