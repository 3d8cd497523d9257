import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Black-box tests run what users run: the compiled program. It is built once, before any test. */
export default function build(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm run build failed: see the compiler messages above');
}
