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

/** Modules that the server does not use. Each would add milliseconds to every start. */
const UNUSED = ['http2', 'internal/fs/promises', 'inspector'];

it('a server does not load the modules of Node that it does not use', async () => {
  const [tell, reported] = [join(folder, 'tell.cjs'), join(folder, 'reported.json')];
  writeFileSync(
    tell,
    `process.once('exit', () => require('node:fs').writeFileSync(${JSON.stringify(reported)}, JSON.stringify(process.moduleLoadList)))`,
  );
  const bundle = [process.execPath, '--require', tell, BUNDLE] as const;
  const guard = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
  const flags = ['--port', '0', '--upstream', 'http://127.0.0.1:9', '--data-dir', join(folder, 'data')];
  const server = await runProgram(['start', ...flags, ...guard], {
    env: cleanEnvironment(),
    command: bundle,
  });
  expect(await server.stop()).toBe(0);
  const loaded: string[] = JSON.parse(readFileSync(reported, 'utf8'));
  expect(loaded).toContain('NativeModule http');
  expect(loaded.filter((part) => UNUSED.includes(part.replace('NativeModule ', '')))).toEqual([]);
});

/** Maximum number of modules compiled at start, of more than 100 loaded ones. Node has no cached code for some. */
const MAX_COMPILED = 20;

it("a server uses Node's embedded code cache for the modules of Node", async () => {
  const [tell, reported] = [join(folder, 'tellCompiled.cjs'), join(folder, 'compiled.json')];
  writeFileSync(
    tell,
    `const { internalBinding } = require('internal/test/binding');
    process.once('exit', () => {
      const { compiledWithoutCache } = internalBinding('builtins').getCacheUsage();
      require('node:fs').writeFileSync(${JSON.stringify(reported)}, JSON.stringify([...compiledWithoutCache]));
    });`,
  );
  const command = [process.execPath, '--expose-internals', '--require', tell, BUNDLE] as const;
  const flags = ['--role', 'rules', '--port', '0', '--data-dir', join(folder, 'compiled')];
  // A writable cache folder of the test: the default one of this user may be writable for others.
  const env = cleanEnvironment({ XDG_CACHE_HOME: folder });
  const server = await runProgram(['start', ...flags], { env, command });
  expect(await server.stop()).toBe(0);
  const compiled: string[] = JSON.parse(readFileSync(reported, 'utf8'));
  expect(compiled).not.toContain('_http_server');
  expect(compiled.length).toBeLessThan(MAX_COMPILED);
});

it('the bundled program notifies systemd when it is ready and when it stops', async () => {
  const [notify, notified] = [join(folder, 'systemd-notify'), join(folder, 'notified')];
  writeFileSync(notify, `#!/bin/sh\necho "$1" >> '${notified}'\n`);
  chmodSync(notify, 0o755);
  const env = cleanEnvironment({ NOTIFY_SOCKET: 'any', PATH: `${folder}:${process.env['PATH']}` });
  const flags = ['--role', 'rules', '--port', '0', '--data-dir', join(folder, 'service')];
  const server = await runProgram(['start', ...flags], { env, command: [process.execPath, BUNDLE] });
  const reported = () => (existsSync(notified) ? readFileSync(notified, 'utf8') : '');
  await until('READY=1', () => reported() === 'READY=1\n');
  expect(await server.stop()).toBe(0);
  await until('STOPPING=1', () => reported() === 'READY=1\nSTOPPING=1\n');
});
