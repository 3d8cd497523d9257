// Runs Floodgate from a checkout: compiles what changed (well under a second), then becomes the program.
// One process from here on, so that a signal to it reaches Floodgate itself and not a shell in between.
import { existsSync } from 'node:fs';
import { compileProgram, compiler, root } from './compile.js';
import { buildConsole } from './console.js';

if (existsSync(compiler) && existsSync(`${root}src`)) {
  if (compileProgram() !== 0) {
    console.error('floodgate: the sources do not compile; see the messages above');
    process.exit(1);
  }
  await buildConsole();
} else if (!existsSync(`${root}dist/cli/main.js`)) {
  console.error('floodgate: nothing to run: run `npm ci` first, it installs the compiler');
  process.exit(1);
}

// npm runs us below a shell that keeps a signal to itself: SIGTERM to npm ends the shell and not us. We notice that it is gone.
const ORPHAN_CHECK_MS = 250;
const parent = process.ppid;
if (process.env.npm_lifecycle_event !== undefined && process.platform !== 'win32') {
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    process.kill(process.pid, 'SIGTERM');
  }, ORPHAN_CHECK_MS);
  check.unref();
}

process.argv[1] = `${root}dist/cli/main.js`;
await import('../dist/cli/main.js');
