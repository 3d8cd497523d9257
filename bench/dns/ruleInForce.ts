/** Time until a changed rule is in force on both of two dnsdist nodes: the longest of several changes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { DnsdistConsole } from '../../src/dns/dataplane/dnsdist/index.ts';
import { driveDnsdist } from '../../test/dns/support/driveDnsdist.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from '../../test/dns/support/guardInFront.ts';
import { startDnsdist } from '../../test/dns/support/realDnsdist.ts';

const CHANGES = 20;
const NO_ACTION = /floodgate-refuses.*wouldDrop/;
const DROP = /floodgate-refuses.*dropped/;

/** Returns the longest time from a change of the rule until both nodes show it, in milliseconds. */
export async function benchRuleInForce(): Promise<number> {
  const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  const one = await startDnsdist(server);
  const two = await startDnsdist(server, one);
  const file = join(one.folder, 'zone');
  await writeFile(file, ZONE_TEXT);
  const rules = new TestRules([{ ...RULE, mode: 'monitoring' }]);
  const { key, dnstap, folder } = one;
  const consoles = [one.console, two.console];
  const zones = [{ name: ZONE_NAME, file }];
  const guard = await driveDnsdist({ rules, consoles, key, dnstap, folder, zones });
  const readers = consoles.map((address) => new DnsdistConsole(address, key));
  const bothShow = (wanted: RegExp): Promise<unknown> =>
    Promise.all(
      readers.map(async (reader) => {
        while (!wanted.test(await reader.run('showRules()')));
      }),
    );
  try {
    await bothShow(NO_ACTION);
    let longestMs = 0;
    for (let change = 0; change < CHANGES; change++) {
      const drops = change % 2 === 0;
      const startMs = performance.now();
      rules.set({ ...RULE, mode: drops ? 'enabled' : 'monitoring' });
      await bothShow(drops ? DROP : NO_ACTION);
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
    return longestMs;
  } finally {
    for (const reader of readers) reader.close();
    await guard.stop();
    await Promise.all([one.stop(), two.stop(), server.stop()]);
  }
}
