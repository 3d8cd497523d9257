import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { spawnGuarded } from '../support/spawn.ts';
import { startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { root } from './support/run.ts';

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const UNIT = `${root}deploy/systemd/floodgate.service`;

/**
 * Python program that prints the messages at a Unix datagram socket like that of systemd. Node does not support
 * these.
 */
const LISTENER = `
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("bound", flush=True)
while True: print(listener.recv(4096).decode().replace("\\n", " "), flush=True)
`;

describe('deploy/systemd/floodgate.service', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-systemd-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has an exposure level below 2.0 and no unknown settings', (ctx) => {
    if (!has('systemd-analyze')) ctx.skip('systemd-analyze is not installed');
    const args = ['security', '--offline=true', '--threshold=20', '--no-pager', UNIT];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
    expect(stderr).not.toMatch(/Unknown|Failed to parse/);
  });

  it('has Type=notify, and the server reports READY=1 after it listens and STOPPING=1', async (ctx) => {
    if (!has('systemd-notify') || !has('python3')) ctx.skip('systemd-notify or python3 is not installed');
    expect(readFileSync(UNIT, 'utf8')).toMatch(/^Type=notify\nNotifyAccess=all$/m);
    const socket = join(folder, 'notify');
    const listener = spawnGuarded('python3', ['-c', LISTENER, socket]);
    const reported: string[] = [];
    createInterface(listener.stdout).on('line', (line) => reported.push(line));
    await until('the socket', () => reported.includes('bound'));
    const server = await startFloodgateProcess({ env: { NOTIFY_SOCKET: socket } });
    await until('READY=1', () => reported.includes('READY=1'));
    expect(reported).not.toContain('STOPPING=1');
    expect(await server.stop()).toBe(0);
    await until('STOPPING=1', () => reported.includes('STOPPING=1'));
    listener.kill();
  });
});
