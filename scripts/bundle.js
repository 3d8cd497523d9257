// Bundles programs with the packages that they use. From the command line: node scripts/bundle.js FOLDER ENTRY.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { compiler, copyPages, root } from './compile.js';
import { consoleModules, copyConsole } from './console.js';
import { writeTypes } from './libraryTypes.js';
import { isNewer } from './newer.js';
import { thirdPartyNotices } from './thirdParty.js';

/**
 * lmdb has binaries, each in a package of its own: the one package that is installed beside the bundle. The other two are for those
 * who have them: pg asks whether they are there.
 */
const NOT_BUNDLED = [/^lmdb$/, /^pg-native$/, /^pg-cloudflare$/];
/**
 * What fastify asks for where a route has a schema of its own, and where a test has no socket: neither is (src/platform/http/listener.ts), and it
 * would be a third of all that a start loads.
 */
const UNUSED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
  // pino's threads, for logs that go elsewhere than to standard error.
  'thread-stream',
  // fastify and undici ask for this part of Node for HTTP/2 alone, and it takes as long to load as a small package.
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
/** A program of its own, which the server starts as a thread and finds beside itself. */
const THREAD = { udpThread: 'src/dns/dataplane/embedded/udpThread.ts' };
const NOTICES = 'THIRD-PARTY-NOTICES.txt';
/** What of the sources a bundle is made of is told by the compiler's notes. */
const MADE_OF = [
  'dist/.tsbuildinfo',
  'dist/console/modules.json',
  'node_modules/.package-lock.json',
  'scripts/bundle.js',
  'scripts/thirdParty.js',
];

/**
 * Bundles programs (their names and sources) into a folder, with all that they find beside themselves. As CommonJS: the only
 * modules that Node 20 takes compiled code for, which the tests give it. Does nothing where nothing changed.
 */
export async function bundleProgram(folder, entries) {
  const notices = `${root}${folder}/${NOTICES}`;
  if (isNewer(notices, inRoot([...MADE_OF, ...Object.values(entries)]))) return copyConsole(folder);
  const output = await write(
    { input: { ...entries, ...THREAD }, external: NOT_BUNDLED, plugins: [withoutUnused] },
    {
      ...{ dir: folder, format: 'cjs', chunkFileNames: '[name]-[hash].js', cleanDir: true },
      // Sources are read and held whole at each start: with one character that is no ASCII in two bytes each.
      ...{ charset: 'ascii', comments: { legal: true, annotation: false, jsdoc: false } },
    },
  );
  writeFileSync(`${root}${folder}/package.json`, '{ "type": "commonjs" }\n');
  copyPages(() => root + folder);
  copyConsole(folder);
  // Last, as its time is the bundle's.
  writeFileSync(
    notices,
    thirdPartyNotices([...output.flatMap(({ moduleIds = [] }) => moduleIds), ...consoleModules()]),
  );
}

/** What other programs import, `floodgate/NAME`. */
const LIBRARIES = ['client', 'traces'];
const libraries = (fileOf) => Object.fromEntries(LIBRARIES.map((name) => [name, fileOf(name)]));

/** Bundles what other programs import, and writes its types. Answers the compiler's exit status. */
export async function bundleLibrary(folder) {
  if (LIBRARIES.every((name) => isNewer(`${root}${folder}/${name}.d.ts`, inRoot(MADE_OF)))) return 0;
  const project = ['-p', `${root}tsconfig.library.json`];
  const { status } = spawnSync(process.execPath, [compiler, ...project], { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  await write(
    {
      input: libraries((name) => `src/library/${name}/index.ts`),
      // They are pure: what they import and do not use does nothing. Browsers take them, too.
      treeshake: { moduleSideEffects: false },
      platform: 'neutral',
    },
    { dir: folder, format: 'esm', cleanDir: true },
  );
  writeTypes(
    libraries((name) => `${root}dist/.types/library/${name}/index`),
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
  const [folder = '', entry = ''] = process.argv.slice(2);
  await bundleProgram(folder, { [basename(entry, '.ts')]: entry });
}
