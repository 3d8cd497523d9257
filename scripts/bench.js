// Compiles the program and the benchmarks, then runs one of them: `npm run bench NAME` runs bench/NAME.ts with what follows
// as its arguments. Without a name it runs those that make up the tables of bench/README.md, one after the other.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { compile, compileProgram, root } from './compile.js';

const TABLES = ['anvil', 'traces', 'rules', 'gateway', 'dns'];

function run(file, ...args) {
  const { status } = spawnSync(process.execPath, [file, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const [name, ...rest] = process.argv.slice(2);
if (name !== undefined && !existsSync(`${root}bench/${name}.ts`)) {
  console.error(`floodgate: there is no bench/${name}.ts; npm run bench runs ${TABLES.join(', ')}`);
  process.exit(64);
}
const status = compileProgram() || compile('tsconfig.bench.json', 'dist/.bench/src');
if (status !== 0) process.exit(status);
for (const table of name === undefined
  ? TABLES.filter((known) => existsSync(`${root}bench/${known}.ts`))
  : [name]) {
  console.log(`\n# ${table}\n`);
  run(`${root}dist/.bench/bench/${table}.js`, ...rest);
}
