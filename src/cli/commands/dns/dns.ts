import type { Command } from 'commander';
import { registerDnsAttacks } from './dnsAttacks.ts';
import { registerDnsDnsdistConfig } from './dnsDnsdistConfig.ts';
import { registerDnsExplain } from './dnsExplain.ts';
import { registerDnsProfile } from './dnsProfile.ts';
import { registerDnsReplay } from './dnsReplay.ts';
import { registerDnsWatch } from './dnsWatch.ts';
import { registerDnsForget, registerDnsZones } from './dnsZones.ts';

/** `floodgate dns`: inspects the guard, replays traffic, moves or forgets what was learned, configures dnsdist. */
export function registerDns(program: Command): void {
  const dns = program.command('dns').description('inspect the DNS guard');
  registerDnsWatch(dns);
  registerDnsAttacks(dns);
  registerDnsExplain(dns);
  registerDnsZones(dns);
  registerDnsForget(dns);
  registerDnsReplay(dns);
  registerDnsProfile(dns);
  registerDnsDnsdistConfig(dns);
}
