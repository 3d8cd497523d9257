/** dnsdist as a careful operator configures it against floods according to its documentation, without Floodgate. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerAddress } from '../../src/platform/addresses/index.ts';
import { query, UdpClient } from '../../test/dns/support/dnsClient.ts';
import { freePort } from '../../test/support/freePort.ts';
import { spawnGuarded } from '../../test/support/spawn.ts';
import { ZONE } from './names.ts';

/**
 * A client may send fifty queries per second. A client with too many queries, or with too many for nonexistent names,
 * is blocked for a minute. Queries for a suffix with more than fifty queried names, four fifths of which do not
 * exist, are answered TC=1, so that legitimate clients can use TCP.
 */
const configOf = (port: number, server: ServerAddress): string => `
setLocal("127.0.0.1:${port}")
setACL({"0.0.0.0/0","::/0"})
setUDPSocketBufferSizes(4194304,4194304)
setRingBuffersSize(200000,16)
newServer({address="${server.host}:${server.port}"})
addAction(MaxQPSIPRule(50,32,48),DropAction())
local group=dynBlockRulesGroup()
group:setQueryRate(100,10,"too many queries",60)
group:setRCodeRate(DNSRCode.NXDOMAIN,20,10,"too many names that do not exist",60)
group:setSuffixMatchRule(10,"random names",60,DNSAction.Truncate,function(node,self,children)
  return self:numChildren()>50 and children.queries>500 and children.nxdomains>0.8*children.queries
end)
function maintenance() group:apply() end
`;

export interface DnsdistByHand {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startDnsdistByHand(server: ServerAddress): Promise<DnsdistByHand> {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-bench-'));
  const port = await freePort();
  await writeFile(join(folder, 'dnsdist.conf'), configOf(port, server));
  const child = spawnGuarded('/usr/bin/dnsdist', [
    '-C',
    join(folder, 'dnsdist.conf'),
    '--supervised',
    '--disable-syslog',
  ]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit');
  const client = await new UdpClient().open();
  while (!client.answers.has(1)) {
    if (child.exitCode !== null) throw new Error(`dnsdist exited before it answered: ${output}`);
    client.send(query(ZONE, 6, 1), { host: '127.0.0.1', port });
    await client.wait(() => client.answers.has(1), 100);
  }
  client.close();
  return {
    port,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
