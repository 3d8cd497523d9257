import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('the generated parts of docs/ are up to date (if not, run `npm run docs`)', () => {
  const script = fileURLToPath(new URL('../../scripts/docs.js', import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
