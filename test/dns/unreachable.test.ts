import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { noNamespace, Secluded } from './support/namespace.ts';

/** Echoes each packet with the response bit set, at an address of its own, over IPv4 or IPv6. */
const SERVER = `
import socket,sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 53))
while True:
    packet, client = s.recvfrom(4096)
    s.sendto(packet[:2] + bytes([packet[2] | 0x80]) + packet[3:], client)
`;
/** Asks again and again until an answer comes, and prints it. */
const CLIENT = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.5)
while True:
    try:
        s.sendto(bytes.fromhex("0007010000010000000000000377777704746573740000010001"), ("127.0.0.1", 5353))
        print(s.recv(512).hex())
        break
    except OSError:
        pass
`;
const FETCH = 'import urllib.request,sys; print(urllib.request.urlopen(sys.argv[1]).read().decode())';

const newer = newerNode();
const nodes = [
  { name: 'one thread', node: process.execPath, missing: undefined },
  { name: 'threads', node: newer ?? '', missing: newer === undefined ? NO_NEWER_NODE : undefined },
];
describe.concurrent.each(nodes)('DNS servers without a route to them, $name', ({ node, missing }) => {
  it.for([
    ['IPv4', '192.0.2.1', '192.0.2.1:53', '192.0.2.1/32'],
    ['IPv6', '2001:db8::1', '[2001:db8::1]:53', '2001:db8::1/128'],
  ] as const)(
    'over %s keep nothing from starting, leak nothing, and are used when there is one',
    async ([, host, server, address], ctx) => {
      const reason = noNamespace ?? missing;
      if (reason) return ctx.skip(reason);
      const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
      ctx.onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const flags = [
        '--port',
        '8420',
        '--dns-listen',
        '127.0.0.1:5353',
        '--dns-servers',
        server,
        '--dns-workers',
        '2',
      ];
      // A zone of the same server, which is as far away.
      const program = new Secluded(folder, node, ...flags, '--dns-zones', `example.test=axfr:${server}`);
      ctx.onTestFinished(async () => void (await program.stop('SIGKILL')));
      await until('everything listens', () => program.output.includes('"msg":"listening"'));
      expect(program.output).toMatch(
        new RegExp(`"${host} port 53","reason":".*ENETUNREACH.*cannot be reached`),
      );
      await until('the zone was tried', () => program.output.includes('the zone cannot be read'));
      const ready = await program.inside('python3', '-c', FETCH, 'http://127.0.0.1:8420/readyz');
      expect(JSON.parse(ready)).toMatchObject({
        status: 'ready',
        checks: {
          dns: expect.stringMatching(
            /^no DNS server answers; names not known yet: example\.test \(.*ENETUNREACH/,
          ),
        },
      });
      const before = program.descriptors;
      const tries = () => program.inside('python3', '-c', FETCH, 'http://127.0.0.1:8420/healthz');
      // The back-off is some seconds: a descriptor for each of the sockets tried meanwhile would be seen.
      for (let second = 0; second < 6; second++) {
        await tries();
        await pause(1000);
      }
      expect(program.descriptors).toBeLessThanOrEqual(before + 2);
      expect(program.output.match(/cannot be reached/g)).toHaveLength(1);

      await program.inside('ip', 'addr', 'add', address, 'dev', 'lo');
      ctx.onTestFinished(program.runInside('python3', '-c', SERVER, host));
      expect(await program.inside('timeout', '300', 'python3', '-c', CLIENT)).toMatch(/^00078/);
      await until('the log says so', () => program.output.includes('the DNS server answers again'));
      expect(await program.stop('SIGTERM')).toEqual([0, null]);
    },
  );

  it('and of which there never is one, let SIGTERM end the program', async (ctx) => {
    const reason = noNamespace ?? missing;
    if (reason) return ctx.skip(reason);
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    ctx.onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const program = new Secluded(
      folder,
      node,
      ...[
        '--port',
        '8420',
        '--dns-listen',
        '127.0.0.1:5353',
        '--dns-servers',
        '192.0.2.1:53',
        '--dns-workers',
        '2',
      ],
    );
    ctx.onTestFinished(async () => void (await program.stop('SIGKILL')));
    await until('it runs', () => program.output.includes('"msg":"guarding DNS"'));
    expect(await program.stop('SIGTERM')).toEqual([0, null]);
    expect(program.output).toContain('"msg":"stopped"');
  });
});
