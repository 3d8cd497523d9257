// Compiles the program and the benchmarks, then runs them: `npm run bench NAME ARGS…` runs bench/NAME.ts with these
// arguments. Without a name, runs the benchmarks whose tables are in bench/README.md, one after the other.
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
  console.error(`floodgate: bench/${name}.ts does not exist; npm run bench runs ${TABLES.join(', ')}`);
  process.exit(64);
}
const status = compileProgram() || compile('tsconfig.bench.json');
if (status !== 0) process.exit(status);
for (const table of name === undefined
  ? TABLES.filter((known) => existsSync(`${root}bench/${known}.ts`))
  : [name]) {
  console.log(`\n# ${table}\n`);
  run(`${root}dist/.bench/bench/${table}.js`, ...rest);
}
