import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { NamespacedProgram, noNamespace } from './support/namespace.ts';

/** Echoes each packet with the response bit set, on its own address, over IPv4 or IPv6. */
const SERVER = `
import socket,sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 53))
while True:
    packet, client = s.recvfrom(4096)
    s.sendto(packet[:2] + bytes([packet[2] | 0x80]) + packet[3:], client)
`;
/** Repeats a query until an answer arrives that has the response code SERVFAIL, or another one. Prints the answer. */
const client = (expected: 'SERVFAIL' | 'another'): string => `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.5)
while True:
    try:
        s.sendto(bytes.fromhex("0007010000010000000000000377777704746573740000010001"), ("127.0.0.1", 5353))
        answer = s.recv(512)
        if (answer[3] & 15 == 2) == ${expected === 'SERVFAIL' ? 'True' : 'False'}:
            print(answer.hex())
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
describe.concurrent.each(nodes)('DNS servers without a route, with $name,', ({ node, missing }) => {
  it.for([
    ['IPv4', '192.0.2.1', '192.0.2.1:53', '192.0.2.1/32'],
    ['IPv6', '2001:db8::1', '[2001:db8::1]:53', '2001:db8::1/128'],
  ] as const)(
    'over %s delay no start, leak no descriptors, and are used as soon as a route exists; until then clients get SERVFAIL',
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
        '--dns-threads',
        '2',
      ];
      // A zone of the same server, which is equally unreachable.
      const program = new NamespacedProgram(
        folder,
        node,
        ...flags,
        '--dns-zones',
        `example.test=axfr:${server}`,
      );
      ctx.onTestFinished(async () => void (await program.stop('SIGKILL')));
      await until('the program to listen', () => program.output.includes('"msg":"listening"'));
      expect(program.output).toMatch(
        new RegExp(`"${host} port 53","reason":".*ENETUNREACH.*DNS server unreachable`),
      );
      await until('the transfer of the zone to fail', () => program.output.includes('cannot read zone'));
      const ready = await program.inside('python3', '-c', FETCH, 'http://127.0.0.1:8420/readyz');
      expect(JSON.parse(ready)).toMatchObject({
        status: 'ready',
        checks: {
          dns: expect.stringMatching(
            /^no DNS server answers; names not known yet: example\.test \(.*ENETUNREACH/,
          ),
        },
      });
      const refused = await program.inside('timeout', '300', 'python3', '-c', client('SERVFAIL'));
      expect(refused).toMatch(/^00078102/);
      const before = program.descriptors;
      const tries = () => program.inside('python3', '-c', FETCH, 'http://127.0.0.1:8420/healthz');
      // The back-off takes several seconds, so a leaked descriptor per attempt would be visible.
      for (let second = 0; second < 6; second++) {
        await tries();
        await pause(1000);
      }
      expect(program.descriptors).toBeLessThanOrEqual(before + 2);
      expect(program.output.match(/DNS server unreachable/g)).toHaveLength(1);

      await program.inside('ip', 'addr', 'add', address, 'dev', 'lo');
      ctx.onTestFinished(program.runInside('python3', '-c', SERVER, host));
      expect(await program.inside('timeout', '300', 'python3', '-c', client('another'))).toMatch(/^00078100/);
      await until('the log to report that the server answers again', () =>
        program.output.includes('DNS server answers again'),
      );
      expect(await program.stop('SIGTERM')).toEqual([0, null]);
    },
  );

  it('do not prevent the end of the program after SIGTERM', async (ctx) => {
    const reason = noNamespace ?? missing;
    if (reason) return ctx.skip(reason);
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    ctx.onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const program = new NamespacedProgram(
      folder,
      node,
      '--port',
      '8420',
      '--dns-listen',
      '127.0.0.1:5353',
      '--dns-servers',
      '192.0.2.1:53',
      '--dns-threads',
      '2',
    );
    ctx.onTestFinished(async () => void (await program.stop('SIGKILL')));
    await until('the program to run', () => program.output.includes('"msg":"guarding DNS"'));
    expect(await program.stop('SIGTERM')).toEqual([0, null]);
    expect(program.output).toContain('"msg":"stopped"');
  });
});
