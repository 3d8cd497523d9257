/** DNS is answered while zones are read, even if the zones are many or large, or their servers hang. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { PROGRAM } from '../support/program.ts';
import { type GuardedChild, spawnGuarded } from '../support/spawn.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { query, RCODE, type Target, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';

const LOOPBACK = '127.0.0.1';
const KNOWN = 'zone seeded';
let folder: string;
let server: AuthorityServer;
let client: UdpClient;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  client = await new UdpClient().open();
  atEnd(
    () => rm(folder, { recursive: true, force: true }),
    () => server.stop(),
    () => client.close(),
  );
});

class Running {
  readonly child: GuardedChild;
  readonly exited: Promise<unknown[]>;
  output = '';

  constructor(zones: readonly string[]) {
    const servers = `${server.host}:${server.port}`;
    const flags = ['--dns-account', 'acme', '--dns-listen', `${LOOPBACK}:0`, '--dns-servers', servers];
    const args = [
      'start',
      '--role',
      'rules,guard',
      '--port',
      '0',
      '--data-dir',
      folder,
      ...flags,
      '--dns-zones',
      ...zones,
    ];
    this.child = spawnGuarded(process.execPath, [PROGRAM, ...args]);
    this.exited = once(this.child, 'close');
    atEnd(() => this.child.kill('SIGKILL') && this.exited);
    for (const input of [this.child.stdout, this.child.stderr])
      createInterface({ input }).on('line', (line) => (this.output += `${line}\n`));
  }

  dns(): Promise<Target> {
    return until('the program to answer DNS', () => {
      const port = Number(/"dns":\["127\.0\.0\.1:(\d+)"\]/.exec(this.output)?.[1]);
      return port > 0 && { host: LOOPBACK, port };
    });
  }

  url(): Promise<string> {
    return until('the program to listen', () => /"url":"(http:[^"]+)"/.exec(this.output)?.[1]);
  }
}

/** Starts a server that accepts connections and never writes. */
async function hanging(): Promise<string> {
  const open = new Set<Socket>();
  const silent = createServer((socket) => void open.add(socket.on('error', () => {})));
  silent.listen(0, LOOPBACK);
  await once(silent, 'listening');
  atEnd(
    () => silent.close(),
    () => open.forEach((socket) => void socket.destroy()),
  );
  const { port } = silent.address() as AddressInfo; // it listens on TCP
  return `${LOOPBACK}:${port}`;
}

it('zones whose transfer hangs delay neither DNS, nor other zones, nor a stop', async () => {
  const silent = await hanging();
  const file = join(folder, 'zone');
  await writeFile(file, ZONE_TEXT);
  // More zones of one server than are read from it at a time, and as many servers as are read in parallel.
  const others = await Promise.all(Array.from({ length: 12 }, hanging));
  const zones = [
    ...Array.from({ length: 6 }, (_, n) => `hangs${n}.test=axfr:${silent}`),
    ...others.map((address, n) => `other${n}.test=axfr:${address}`),
    `${ZONE_NAME}=${file}`,
  ];
  const program = new Running(zones);
  const dns = await program.dns();
  expect(await client.ask(query(`www.${ZONE_NAME}`), dns)).toMatchObject({ rcode: RCODE.NOERROR });
  await until('the zone in the file to be seeded', () => program.output.includes(KNOWN));
  // Not even the first of the hanging transfers has timed out.
  expect(program.output).not.toContain('cannot read zone');
  const ready = await fetch(`${await program.url()}/readyz`);
  expect([ready.status, ((await ready.json()) as { checks: { dns: string } }).checks.dns]).toEqual([
    200,
    expect.stringMatching(
      /^names not known yet: hangs0\.test \(being read\), .*other3\.test \(being read\) and 8 more$/,
    ),
  ]);
  program.child.kill('SIGTERM');
  expect(await program.exited).toEqual([0, null]);
  expect(program.output).not.toContain('cannot read zone');
});

it.each([
  [
    'listed one by one',
    () => Array.from({ length: 900_000 }, (_, n) => `n${n} A 192.0.2.${n % 250}`).join('\n'),
  ],
  ['that $GENERATE produces', () => '$GENERATE 0-899999 n$ A 192.0.2.1'],
])(
  '900,000 names %s are read in slices between packets, and a stop does not wait for them',
  async (_, namesOf) => {
    const file = join(folder, 'zone');
    const names = namesOf();
    await writeFile(file, `${ZONE_TEXT}\n${names}\n`);
    const program = new Running([`${ZONE_NAME}=${file}`]);
    const dns = await program.dns();
    let answered = 0;
    for (let id = 1; !program.output.includes(KNOWN); id = (id % 60_000) + 1, answered++)
      expect(await client.ask(query(`www.${ZONE_NAME}`, QueryType.A, id), dns)).toMatchObject({ answers: 1 });
    // One query after another, each answered after a slice or two. If DNS waited for the zone, there would be one.
    expect(answered).toBeGreaterThan(100);
    program.child.kill('SIGTERM');
    expect(await program.exited).toEqual([0, null]);

    await rm(join(folder, 'dns'), { recursive: true });
    const again = new Running([`${ZONE_NAME}=${file}`]);
    await client.ask(query(`www.${ZONE_NAME}`), await again.dns());
    again.child.kill('SIGTERM');
    expect(await again.exited).toEqual([0, null]);
    expect(again.output).not.toContain(KNOWN);
  },
);
