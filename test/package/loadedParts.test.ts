import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from '../server/support/run.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { runProgram } from '../support/runProgram.ts';
import { until } from '../support/until.ts';

const BUNDLE = `${root}dist/bundle/floodgate.js`;
const folder = mkdtempSync(join(tmpdir(), 'floodgate-loaded-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each takes milliseconds of every start. */
const UNUSED = ['http2', 'internal/fs/promises', 'inspector'];

it('a server loads no part of Node that it does not use', async () => {
  const [tell, told] = [join(folder, 'tell.cjs'), join(folder, 'told.json')];
  writeFileSync(
    tell,
    `process.once('exit', () => require('node:fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify(process.moduleLoadList)))`,
  );
  const bundle = [process.execPath, '--require', tell, BUNDLE] as const;
  const guard = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
  const flags = ['--port', '0', '--upstream', 'http://127.0.0.1:9', '--data-dir', join(folder, 'data')];
  const server = await runProgram(['start', ...flags, ...guard], {
    env: cleanEnvironment(),
    command: bundle,
  });
  expect(await server.stop()).toBe(0);
  const loaded: string[] = JSON.parse(readFileSync(told, 'utf8'));
  expect(loaded).toContain('NativeModule http');
  expect(loaded.filter((part) => UNUSED.includes(part.replace('NativeModule ', '')))).toEqual([]);
});

/** Of more than a hundred parts. Node brings no compiled code for some. */
const MAX_COMPILED = 20;

it('a server takes the compiled code that Node brings for its own parts', async () => {
  const [tell, told] = [join(folder, 'tellCompiled.cjs'), join(folder, 'compiled.json')];
  writeFileSync(
    tell,
    `const { internalBinding } = require('internal/test/binding');
    process.once('exit', () => {
      const { compiledWithoutCache } = internalBinding('builtins').getCacheUsage();
      require('node:fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify([...compiledWithoutCache]));
    });`,
  );
  const command = [process.execPath, '--expose-internals', '--require', tell, BUNDLE] as const;
  const flags = ['--rules-only', '--port', '0', '--data-dir', join(folder, 'compiled')];
  // Where code can be kept: the one of whoever runs the tests may be another's to write.
  const env = cleanEnvironment({ XDG_CACHE_HOME: folder });
  const server = await runProgram(['start', ...flags], { env, command });
  expect(await server.stop()).toBe(0);
  const compiled: string[] = JSON.parse(readFileSync(told, 'utf8'));
  expect(compiled).not.toContain('_http_server');
  expect(compiled.length).toBeLessThan(MAX_COMPILED);
});

it('the bundled program tells systemd of its start and its stop', async () => {
  const [notify, notified] = [join(folder, 'systemd-notify'), join(folder, 'notified')];
  writeFileSync(notify, `#!/bin/sh\necho "$1" >> '${notified}'\n`);
  chmodSync(notify, 0o755);
  const env = cleanEnvironment({ NOTIFY_SOCKET: 'any', PATH: `${folder}:${process.env['PATH']}` });
  const flags = ['--rules-only', '--port', '0', '--data-dir', join(folder, 'service')];
  const server = await runProgram(['start', ...flags], { env, command: [process.execPath, BUNDLE] });
  const told = () => (existsSync(notified) ? readFileSync(notified, 'utf8') : '');
  await until('it told of its start', () => told() === 'READY=1\n');
  expect(await server.stop()).toBe(0);
  await until('it told of its stop', () => told() === 'READY=1\nSTOPPING=1\n');
});
