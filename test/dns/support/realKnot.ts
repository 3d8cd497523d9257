import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startOnFreePort } from '../../support/freePort.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { query, RCODE, type Target, UdpClient } from './dnsClient.ts';
import type { ServerKey } from './realServer.ts';

const LOOPBACK = '127.0.0.1';
const KNOTD = '/usr/sbin/knotd';

/** Reason why tests that need Knot DNS are skipped; undefined if they can run. */
export const noKnot: string | undefined = existsSync(KNOTD)
  ? undefined
  : 'knotd is not installed (on Debian: apt-get install knot)';

/** A zone in which the answer to every query contains the client's address. */
export const WHOAMI_ZONE = 'who.test';

const WHOAMI_TEXT = '@ 300 IN SOA ns h 1 3600 600 86400 300\n@ NS ns\nns A 192.0.2.1\n';

export interface RealKnot extends Target {
  stop(): Promise<void>;
}

/** Folder and port of a running Knot. */
interface Place {
  readonly folder: string;
  readonly port: number;
}

/** Starts the packaged Knot DNS with a zone signed with NSEC3; only clients with the key may transfer it. */
export const startSigningKnot = (zone: string, text: string, key: ServerKey): Promise<RealKnot> =>
  start(zone, text, (place) => configOf(place, zone, key));

/** Starts the packaged Knot DNS, which accepts PROXY headers from loopback. */
export const startWhoamiKnot = (): Promise<RealKnot> => start(WHOAMI_ZONE, WHOAMI_TEXT, whoamiConfigOf);

const start = (zone: string, text: string, configText: (place: Place) => string): Promise<RealKnot> =>
  startOnFreePort(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-knot-'));
    const port = await freePort();
    await writeFile(join(folder, 'zone'), text);
    await writeFile(join(folder, 'knot.conf'), configText({ folder, port }));
    const child = spawnGuarded(KNOTD, ['-c', join(folder, 'knot.conf')]);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const exited = once(child, 'exit');
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    };
    const address = { host: LOOPBACK, port };
    // Knot answers SERVFAIL while it signs the zone.
    const client = await new UdpClient().open();
    for (;;) {
      if (child.exitCode !== null) {
        client.close();
        await stop();
        throw new Error(`Knot exited before it answered: ${output}`);
      }
      client.answers.clear();
      client.send(query(zone, 6, 1), address);
      await client.wait(() => client.answers.get(1)?.rcode === RCODE.NOERROR, 100);
      if (client.answers.get(1)?.rcode === RCODE.NOERROR) break;
    }
    client.close();
    return { ...address, stop };
  });

const configOf = ({ folder, port }: Place, zone: string, key: ServerKey): string => `
server:
    rundir: "${folder}"
    listen: ${LOOPBACK}@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: warning
database:
    storage: "${folder}"
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
acl:
  - id: transfer
    key: ${key.name}
    action: transfer
policy:
  - id: nsec3
    nsec3: on
    nsec3-iterations: 0
zone:
  - domain: ${zone}
    file: "${folder}/zone"
    acl: transfer
    dnssec-signing: on
    dnssec-policy: nsec3
    zonefile-sync: -1
    journal-content: none
`;

const whoamiConfigOf = ({ folder, port }: Place): string => `
server:
    rundir: "${folder}"
    listen: ${LOOPBACK}@${port}
    proxy-allowlist: ${LOOPBACK}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: warning
database:
    storage: "${folder}"
zone:
  - domain: ${WHOAMI_ZONE}
    file: "${folder}/zone"
    module: mod-whoami
`;
