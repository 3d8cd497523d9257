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

/** Why a test that needs Knot DNS cannot run here; undefined where it can. */
export const noKnot: string | undefined = existsSync(KNOTD)
  ? undefined
  : 'knotd is not installed (on Debian: apt-get install knot)';

export interface RealKnot extends Target {
  stop(): Promise<void>;
}

/** Knot DNS from the system's package, which signs the zone with NSEC3; only who has the key may transfer it. */
export const startSigningKnot = (zone: string, text: string, key: ServerKey): Promise<RealKnot> =>
  startOnFreePort(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'floodgate-knot-'));
    const port = await freePort();
    await writeFile(join(folder, 'zone'), text);
    await writeFile(join(folder, 'knot.conf'), configOf(folder, zone, port, key));
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
    // It answers SERVFAIL while it signs.
    const client = await new UdpClient().open();
    for (;;) {
      if (child.exitCode !== null) {
        client.close();
        await stop();
        throw new Error(`Knot ended before it answered: ${output}`);
      }
      client.answers.clear();
      client.send(query(zone, 6, 1), address);
      await client.wait(() => client.answers.get(1)?.rcode === RCODE.NOERROR, 100);
      if (client.answers.get(1)?.rcode === RCODE.NOERROR) break;
    }
    client.close();
    return { ...address, stop };
  });

const configOf = (folder: string, zone: string, port: number, key: ServerKey): string => `
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
