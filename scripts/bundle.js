// Bundles programs with the packages that they use. From the command line: node scripts/bundle.js FOLDER ENTRY….
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { compiler, root } from './compile.js';
import { writeTypes } from './exportTypes.js';
import { allIn, isNewer } from './newer.js';
import { copyPages, pageModules } from './pages.js';
import { thirdPartyNotices } from './thirdParty.js';

/**
 * lmdb has native binaries in separate packages, so it is the only package installed next to the bundle. pg loads the
 * other two only if they are installed.
 */
const NOT_BUNDLED = [/^lmdb$/, /^pg-native$/, /^pg-cloudflare$/];
/**
 * fastify needs these packages only for routes with a schema and for tests without a socket. The program has neither
 * (src/platform/http/listener.ts), and they would be a third of the code loaded at start.
 */
const UNUSED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
  // Used by pino only for logs that are not written to standard error.
  'thread-stream',
  // fastify and undici need this module of Node only for HTTP/2, and it takes as long to load as a small package.
  'node:http2',
];
const withoutUnused = {
  name: 'without-unused',
  resolveId: (id) => (UNUSED.includes(id) ? `\0unused:${id}` : undefined),
  load: (id) =>
    id.startsWith('\0unused:')
      ? `module.exports = () => { throw new Error('${id.slice(8)} is not bundled'); };\nmodule.exports.constants = {};`
      : undefined,
};
/** Separate entry points: the program starts them as threads, from the folder of the bundle. */
const THREADS = {
  dnsThread: 'src/dns/dataplane/embedded/dnsThread/dnsThread.ts',
  importThread: 'src/ethereum/import/importThread.ts',
};
const NOTICES = 'THIRD-PARTY-NOTICES.txt';
/** Inputs of a bundle. `.tsbuildinfo` represents the source files: the compiler writes it when one changed. */
const MADE_OF = [
  'dist/.tsbuildinfo',
  'dist/pages.json',
  'node_modules/.package-lock.json',
  'scripts/bundle.js',
  'scripts/thirdParty.js',
];

/**
 * Bundles programs (`entries`: name to source file) into a folder, with the files that they load at run time. Writes
 * CommonJS: Node 20 accepts cached compiled code, which the tests use, only for CommonJS modules. Does nothing if no
 * input changed.
 */
export async function bundleProgram(folder, entries) {
  const notices = `${root}${folder}/${NOTICES}`;
  if (isNewer(notices, inRoot([...MADE_OF, ...Object.values(entries)]))) return copyPages(folder);
  const output = await write(
    { input: { ...entries, ...THREADS }, external: NOT_BUNDLED, plugins: [withoutUnused] },
    {
      ...{ dir: folder, format: 'cjs', chunkFileNames: '[name]-[hash].js', cleanDir: true },
      // Node keeps the whole source in memory. A single non-ASCII character would double it to two bytes per character.
      ...{ charset: 'ascii', comments: { legal: true, annotation: false, jsdoc: false } },
    },
  );
  writeFileSync(`${root}${folder}/package.json`, '{ "type": "commonjs" }\n');
  copyPages(folder);
  // Written last: its modification time is that of the bundle.
  writeFileSync(
    notices,
    thirdPartyNotices([...output.flatMap(({ moduleIds = [] }) => moduleIds), ...pageModules()]),
  );
}

/** Entry points of the package: the field `exports` of package.json has `./client` and `./traces`. */
const EXPORTS = ['client', 'traces'];
const exportsOf = (fileOf) => Object.fromEntries(EXPORTS.map((name) => [name, fileOf(name)]));

/** Bundles `src/exports`, and writes the type declarations. Returns the compiler's exit status. */
export async function bundleExports(folder) {
  if (EXPORTS.every((name) => isNewer(`${root}${folder}/${name}.d.ts`, inRoot(MADE_OF)))) return 0;
  const project = ['-p', `${root}tsconfig.exports.json`];
  const { status } = spawnSync(process.execPath, [compiler, ...project], { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  await write(
    {
      input: exportsOf((name) => `src/exports/${name}/index.ts`),
      // The modules are pure: unused imports have no effect. Browsers import the bundles, too.
      treeshake: { moduleSideEffects: false },
      platform: 'neutral',
    },
    { dir: folder, format: 'esm', cleanDir: true },
  );
  writeTypes(
    exportsOf((name) => `${root}dist/.types/exports/${name}/index`),
    root + folder,
  );
  return 0;
}

async function write(input, output) {
  const bundled = await rolldown({ cwd: root, platform: 'node', logLevel: 'warn', ...input });
  try {
    const written = await bundled.write({
      entryFileNames: '[name].js',
      sourcemap: true,
      // Errors and profiles name functions as the sources do.
      keepNames: true,
      ...output,
      dir: root + output.dir,
    });
    return written.output;
  } finally {
    await bundled.close();
  }
}

const inRoot = (files) => files.map((file) => root + file);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder = '', ...entries] = process.argv.slice(2);
  // The sources of the tests are not in `.tsbuildinfo`.
  const folders = new Set(entries.map((entry) => root + dirname(entry)));
  MADE_OF.push(...[...folders].flatMap(allIn).map((file) => relative(root, file)));
  await bundleProgram(folder, Object.fromEntries(entries.map((entry) => [basename(entry, '.ts'), entry])));
}
