// Checks every import of `src`, `test`, `bench` and `fuzz`, types included, against scripts/modules.js. Part of `npm test`.
import { importsOf, modules } from './scripts/modules.js';

const entryPointOf = (path) => `^src/${path}/index\\.ts$`;
const ENTRY_POINTS = modules.map(({ path }) => entryPointOf(path));
const UNIT_TESTS = '\\.test\\.ts$';
/** Values for property tests: not part of the program, so no entry point exports them. */
const ARBITRARIES = '\\.arbitrary\\.ts$';

/** The files of a module, without those of modules inside it. */
function filesOf(path) {
  const inside = modules.filter((other) => other.path.startsWith(`${path}/`));
  const names = inside.map((other) => other.path.slice(path.length + 1));
  return names.length === 0 ? `^src/${path}/` : `^src/${path}/(?!(?:${names.join('|')})/)`;
}

/** Packages that only some modules may import. */
const PACKAGES = {
  '@clickhouse/client': ['ethereum/store/shared'],
  commander: ['cli'],
  fastify: ['platform/http', 'rules/api', 'server'],
  lmdb: modules
    .map(({ path }) => path)
    .filter((path) => /\/store\/lmdb(\/|$)/.test(path) || path === 'platform/storeFile'),
  pg: ['rules/store/postgres', 'platform/postgres'],
  undici: ['platform/httpClient', 'ethereum/nodes', 'devchain'],
};

export default {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Files that import each other cannot be understood one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'in-a-module',
      comment: 'Every file belongs to a module of scripts/modules.js.',
      severity: 'error',
      from: { path: '^src/', pathNot: modules.map(({ path }) => filesOf(path)) },
      to: {},
    },
    ...modules.map(({ path }) => ({
      name: `module: ${path}`,
      comment: `It may import the entry points of modules below it: ${importsOf(path).join(', ') || 'none'}.`,
      severity: 'error',
      from: { path: filesOf(path), pathNot: UNIT_TESTS },
      to: {
        path: '^(src|test|bench|fuzz)/',
        pathNot: [filesOf(path), ...importsOf(path).map(entryPointOf)],
      },
    })),
    ...modules.map(({ path }) => ({
      name: `unit tests of ${path}`,
      comment: 'A unit test may import its own module, and the entry points of others.',
      severity: 'error',
      from: { path: `${filesOf(path)}.*${UNIT_TESTS}` },
      to: { path: '^src/', pathNot: [filesOf(path), ARBITRARIES, ...ENTRY_POINTS] },
    })),
    {
      name: 'tests-through-entry-points',
      comment: 'A test outside of src uses entry points; a test of internals is next to its file.',
      severity: 'error',
      from: { path: '^(test|bench|fuzz)/' },
      to: { path: '^src/', pathNot: [ARBITRARIES, ...ENTRY_POINTS] },
    },
    {
      name: 'pure-modules',
      comment: 'A pure module does no I/O.',
      severity: 'error',
      from: {
        path: modules.filter(({ isPure }) => isPure).map(({ path }) => filesOf(path)),
        pathNot: UNIT_TESTS,
      },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(buffer|crypto|perf_hooks)$' },
    },
    ...Object.entries(PACKAGES).map(([name, homes]) => ({
      name: `package: ${name}`,
      comment: `Only ${homes.join(', ')} may import it.`,
      severity: 'error',
      from: { path: '^src/', pathNot: [UNIT_TESTS, ...homes.map(filesOf)] },
      to: { path: `^node_modules/${name}/` },
    })),
  ],
  options: {
    // TypeScript 7 has no interface that tools written in JavaScript could use.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.ci)/' },
  },
};
