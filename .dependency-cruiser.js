// Holds every import of `src`, `test`, `bench` and `fuzz`, types included, to the rooms of scripts/rooms.js. Part of `npm test`.
import { rooms } from './scripts/rooms.js';

const doorOf = (room) => `^src/${room}/index\\.ts$`;
const DOORS = rooms.map(({ room }) => doorOf(room));
const UNIT_TESTS = '\\.test\\.ts$';
/** Values for property tests: not part of the program, so no door has them. */
const ARBITRARIES = '\\.arbitrary\\.ts$';

/** The files of a room itself, without those of rooms inside it. */
function filesOf(room) {
  const inside = rooms.filter((other) => other.room.startsWith(`${room}/`));
  const names = inside.map((other) => other.room.slice(room.length + 1));
  return names.length === 0 ? `^src/${room}/` : `^src/${room}/(?!(?:${names.join('|')})/)`;
}

/** Packages that only some rooms know. */
const PACKAGES = {
  '@clickhouse/client': ['ethereum/store/clickhouse'],
  commander: ['cli'],
  fastify: ['console', 'platform/http', 'rules/api'],
  kysely: ['rules/store/postgres'],
  lmdb: rooms
    .map(({ room }) => room)
    .filter(
      (room) =>
        room.endsWith('/store/lmdb') || room.includes('/store/lmdb/') || room === 'platform/storeFile',
    ),
  pg: ['rules/store/postgres', 'ethereum/store/clickhouse', 'platform/postgres'],
  undici: ['ethereum/nodes', 'rules/client', 'devchain'],
};

export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Files that import each other cannot be understood one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'in-a-room',
      comment: 'Every file is in a room of scripts/rooms.js.',
      severity: 'error',
      from: { path: '^src/', pathNot: rooms.map(({ room }) => filesOf(room)) },
      to: {},
    },
    ...rooms.map(({ room, uses }) => ({
      name: `room: ${room}`,
      comment: `It may use ${uses.length === 0 ? 'no other room' : `the doors of ${uses.join(', ')}`}; see scripts/rooms.js.`,
      severity: 'error',
      from: { path: filesOf(room), pathNot: UNIT_TESTS },
      to: { path: '^(src|test|bench|fuzz)/', pathNot: [filesOf(room), ...uses.map(doorOf)] },
    })),
    ...rooms.map(({ room }) => ({
      name: `units of ${room}`,
      comment: 'A unit test knows its own room, and of others the doors.',
      severity: 'error',
      from: { path: `${filesOf(room)}.*${UNIT_TESTS}` },
      to: { path: '^src/', pathNot: [filesOf(room), ARBITRARIES, ...DOORS] },
    })),
    {
      name: 'tests-through-doors',
      comment:
        'What is tested from outside is seen from outside; a test of something inside stands beside it.',
      severity: 'error',
      from: { path: '^(test|bench|fuzz)/' },
      to: { path: '^src/', pathNot: [ARBITRARIES, ...DOORS] },
    },
    {
      name: 'pure-rooms',
      comment: 'What decides does no I/O.',
      severity: 'error',
      from: { path: rooms.filter(({ pure }) => pure).map(({ room }) => filesOf(room)), pathNot: UNIT_TESTS },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(buffer|crypto)$' },
    },
    ...Object.entries(PACKAGES).map(([name, homes]) => ({
      name: `package: ${name}`,
      comment: `Only ${homes.join(', ')} know it.`,
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
