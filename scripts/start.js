// Runs Floodgate from a checkout: compiles what changed (well under a second), then becomes the program.
// One process from here on, so that a signal to it reaches Floodgate itself and not a shell in between.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const compiler = `${root}node_modules/typescript/bin/tsc`;

if (existsSync(compiler) && existsSync(`${root}src`)) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', `${root}tsconfig.build.json`], {
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error('floodgate: the sources do not compile; see the messages above');
    process.exit(1);
  }
} else if (!existsSync(`${root}dist/cli/main.js`)) {
  console.error('floodgate: nothing to run: run `npm ci` first, it installs the compiler');
  process.exit(1);
}

process.argv[1] = `${root}dist/cli/main.js`;
await import('../dist/cli/main.js');
