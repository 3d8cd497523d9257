import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { openUdpClient, startGuarded } from './support/clients.ts';
import { askTcp, query, RCODE } from './support/dnsClient.ts';
import { NamespacedProgram, noNamespace } from './support/namespace.ts';

it('a guard that listens on the wildcard address answers on the addresses of the host, over UDP and TCP', async () => {
  const { target } = await startGuarded(undefined, { listen: [{ host: '0.0.0.0', port: 0 }] });
  const at = { host: '127.0.0.1', port: target.port };
  expect(await (await openUdpClient()).ask(query('www.example.test'), at)).toMatchObject({ answers: 1 });
  const [answer] = await askTcp([query('www.example.test')], at);
  expect(answer?.rcode).toBe(RCODE.NOERROR);
});

/**
 * Queries 192.0.2.11 from 192.0.2.10 and accepts answers only from 192.0.2.11. A socket on the wildcard would answer
 * from 192.0.2.10.
 */
const CLIENT = `
import socket
while True:
    try:
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(0.5)
        s.bind(("192.0.2.10", 0))
        s.connect(("192.0.2.11", 5353))
        s.send(bytes.fromhex("0007010000010000000000000377777704746573740000010001"))
        print(s.recv(512).hex())
        break
    except OSError:
        pass
`;
/** Echoes each packet with the response bit set. */
const SERVER = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
while True:
    packet, client = s.recvfrom(4096)
    s.sendto(packet[:2] + bytes([packet[2] | 0x80]) + packet[3:], client)
`;

const newer = newerNode();
describe.each([
  { name: 'one thread', node: process.execPath, missing: undefined },
  { name: 'threads', node: newer ?? '', missing: newer === undefined ? NO_NEWER_NODE : undefined },
])('a wildcard listener with $name', ({ node, missing }) => {
  it.for(['0.0.0.0', '[::]'])('%s follows address changes of the host', async (wildcard, ctx) => {
    const reason = noNamespace ?? missing;
    if (reason) return ctx.skip(reason);
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    ctx.onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const flags = ['--port', '8420', '--dns-listen', `${wildcard}:5353`, '--dns-threads', '2'];
    const program = new NamespacedProgram(folder, node, ...flags, '--dns-servers', '127.0.0.1:53');
    ctx.onTestFinished(async () => void (await program.stop('SIGKILL')));
    await until('the program to listen', () => program.output.includes('"msg":"listening"'));
    ctx.onTestFinished(program.runInside('python3', '-c', SERVER));
    for (const address of ['192.0.2.10/32', '192.0.2.11/32'])
      await program.inside('ip', 'addr', 'add', address, 'dev', 'lo');
    expect(await program.inside('timeout', '300', 'python3', '-c', CLIENT)).toMatch(/^00078/);
    await program.inside('ip', 'addr', 'del', '192.0.2.11/32', 'dev', 'lo');
    await until('the socket of the removed address to be closed', async () => {
      const sockets = await program.inside('cat', '/proc/net/udp');
      return !sockets.includes('0B0200C0:14E9');
    });
    expect(await program.stop('SIGTERM')).toEqual([0, null]);
  });
});
