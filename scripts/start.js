// Runs Floodgate from a checkout: compiles changed files (well under a second), then runs the program in this process,
// so that signals reach it directly.
import { existsSync } from 'node:fs';
import { compileProgram, compiler, root } from './compile.js';
import { buildPages } from './pages.js';

if (existsSync(compiler) && existsSync(`${root}src`)) {
  if (compileProgram() !== 0) {
    console.error('floodgate: the sources do not compile; see the messages above');
    process.exit(1);
  }
  await buildPages();
} else if (!existsSync(`${root}dist/cli/main.js`)) {
  console.error('floodgate: nothing to run: run `npm ci` first, it installs the compiler');
  process.exit(1);
}

// npm starts this process through a shell that does not forward signals: SIGTERM to npm ends only the shell. Detect
// its end.
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
