/** The DNS server that the guard protects. Writes a line with its port when it listens. */
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { raiseOwnPriority } from './ownPriority.ts';
import { LOOPBACK, ZONE_NAME, ZONE_TEXT } from './target.ts';

raiseOwnPriority();

async function run(): Promise<void> {
  const { port } = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  process.stdout.write(`${port}\n`);
}

void run();
