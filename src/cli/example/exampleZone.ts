import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuthorityServer, serveZones, ZoneData } from '../../dns/authority/index.ts';

export const EXAMPLE_ZONE = 'example.test';

const TEXT = `; The zone that \`floodgate dev\` serves behind its DNS guard. Overwritten at each start.
$TTL 300
@      SOA  ns1 hostmaster ( 1 3600 600 86400 300 )
@      NS   ns1
ns1    A    127.0.0.1
www    A    192.0.2.80
www    AAAA 2001:db8::80
mail   A    192.0.2.25
@      MX   10 mail
@      TXT  "Floodgate guards this zone"
*.user A    192.0.2.99
`;

export interface ExampleZone {
  readonly server: AuthorityServer;
  readonly file: string;
}

/** Serves a small zone on a free port of 127.0.0.1. The guard reads the known names from the zone file. */
export async function serveExampleZone(dataDir: string): Promise<ExampleZone> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, `${EXAMPLE_ZONE}.zone`);
  writeFileSync(file, TEXT);
  return { server: await serveZones([new ZoneData(TEXT, EXAMPLE_ZONE)], '127.0.0.1', 0), file };
}
