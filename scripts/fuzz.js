// Compiles the fuzzers and runs each in a separate process: `npm run fuzz`, or `npm run fuzz TARGET -- --minutes 5`.
import { spawnSync } from 'node:child_process';
import { compile, root } from './compile.js';

const args = process.argv.slice(2);
const status = compile('tsconfig.fuzz.json');
if (status !== 0) process.exit(status);
const { TARGETS } = await import(`${root}dist/.fuzz/fuzz/targets.js`);
const [first] = args;
const isNamed = first !== undefined && !first.startsWith('-');
for (const target of isNamed ? [first] : TARGETS) {
  const { status } = spawnSync(
    process.execPath,
    [`${root}dist/.fuzz/fuzz/main.js`, target, ...(isNamed ? args.slice(1) : args)],
    { cwd: root, stdio: 'inherit' },
  );
  if (status !== 0) process.exitCode = 1;
}
