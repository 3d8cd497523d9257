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

/** Prints what comes to a datagram socket, as systemd's: Node has none of these. */
const LISTENER = `
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("bound", flush=True)
while True: print(listener.recv(4096).decode().replace("\\n", " "), flush=True)
`;

describe('the unit of systemd', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-systemd-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('leaves an exposure below 2.0, and has no line that systemd does not know', (ctx) => {
    if (!has('systemd-analyze')) ctx.skip('systemd-analyze is not installed');
    const args = ['security', '--offline=true', '--threshold=20', '--no-pager', UNIT];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
    expect(stderr).not.toMatch(/Unknown|Failed to parse/);
  });

  it('has its start told once the server listens, and its stop', async (ctx) => {
    if (!has('systemd-notify') || !has('python3')) ctx.skip('systemd-notify or python3 is not installed');
    expect(readFileSync(UNIT, 'utf8')).toMatch(/^Type=notify\nNotifyAccess=all$/m);
    const socket = join(folder, 'notify');
    const listener = spawnGuarded('python3', ['-c', LISTENER, socket]);
    const told: string[] = [];
    createInterface(listener.stdout).on('line', (line) => told.push(line));
    await until('the socket is there', () => told.includes('bound'));
    const server = await startFloodgateProcess({ env: { NOTIFY_SOCKET: socket } });
    await until('its start is told', () => told.includes('READY=1'));
    expect(told).not.toContain('STOPPING=1');
    expect(await server.stop()).toBe(0);
    await until('its stop is told', () => told.includes('STOPPING=1'));
    listener.kill();
  });
});
