// Compiles and runs one benchmark: `npm run bench NAME` runs bench/NAME.ts with what follows as its arguments.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const [name, ...rest] = process.argv.slice(2);

if (name === undefined || !existsSync(`${root}bench/${name}.ts`)) {
  console.error('floodgate: say which benchmark: npm run bench NAME, for bench/NAME.ts');
  process.exit(1);
}
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.bench.json`],
  { cwd: root, stdio: 'inherit' },
);
if (status !== 0) process.exit(status ?? 1);
process.argv = [process.argv[0], `${root}dist/.bench/bench/${name}.js`, ...rest];
await import(`../dist/.bench/bench/${name}.js`);
