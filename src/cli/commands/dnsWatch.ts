import type { Command } from 'commander';
import type { Analytics } from '../../dns/analytics/index.ts';
import { print } from '../print.ts';
import { findInForce, type InForce } from './dnsInForce.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';
import { printable } from './rulesTable.ts';

const INTERVAL_MS = 1000;
/** Goes home and clears: what is written next stands where the last picture stood. */
const CLEAR = '\x1b[H\x1b[2J';

interface WatchOptions {
  readonly once?: boolean;
}

/** `floodgate dns watch`: the guard live, a picture a second on a terminal, a line a second into a pipe. */
export function registerDnsWatch(dns: Command): void {
  addConnectionFlags(dns.command('watch').description('show what the guard does, second by second'))
    .option('--once', 'show it once and exit')
    .action(async (options: WatchOptions, command: Command) => {
      const { client } = connect(command);
      let before: { counts: Analytics['now']['since_start']; atMs: number } | undefined;
      for (;;) {
        const found = await findInForce(client);
        const atMs = Date.now();
        const seconds = before ? (atMs - before.atMs) / 1000 : 0;
        const rates = before && ratesOf(found.analytics.now.since_start, before.counts, seconds);
        before = { counts: found.analytics.now.since_start, atMs };
        const isPicture = process.stdout.isTTY && !options.once;
        if (isPicture) await print(`${CLEAR}${picture(found, rates)}`);
        else await print(options.once ? picture(found, rates) : line(found, rates));
        if (options.once) return;
        await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
      }
    });
}

const shown = ['passed', 'paid', 'would_drop', 'dropped', 'truncated'] as const;
type Rates = Readonly<Record<(typeof shown)[number], number>>;

function ratesOf(now: Rates, before: Rates, seconds: number): Rates {
  // A guard that was started anew counts from zero again.
  const rate = (name: (typeof shown)[number]) => Math.max(0, now[name] - before[name]) / seconds;
  return Object.fromEntries(shown.map((name) => [name, rate(name)])) as Rates; // its keys are those of the list
}

function picture({ rule, analytics: { now } }: InForce, rates: Rates | undefined): string {
  const { bucket, threshold } = now;
  const counts = shown.map((name) => {
    const perSecond = rates ? `${rates[name].toFixed(0)}/s` : '';
    return `  ${name.padEnd(12)}${String(now.since_start[name]).padStart(14)}${perSecond.padStart(12)}`;
  });
  const reasons = Object.entries(now.since_start.reasons).flatMap(([reason, outcomes]) =>
    Object.entries(outcomes).map(([outcome, queries]) => `  ${`${reason} ${outcome}`.padEnd(24)}${queries}`),
  );
  const zones = now.attacked_zones.map(zoneName).join(', ');
  return [
    `Rule       ${rule.id}  ${rule.mode}, profile ${rule.profile_sensitivity}, rate ${rule.rate_sensitivity}, burst ${rule.burst_sensitivity}`,
    `Attack     ${now.attack ? `ON: ${printable(zones)}` : 'none'}`,
    `Profile    ${now.profile_names} names, ${(now.profile_bytes / 1e6).toFixed(1)} MB${now.ready ? '' : ' (learning: nothing is dropped yet)'}`,
    `Threshold  ${threshold.rate_per_second} queries/s, burst ${threshold.burst}`,
    `Bucket     ${bucket.tokens} of ${bucket.burst} tokens, ${bucket.rate_per_second} come in a second`,
    '',
    'Queries since the guard was started',
    ...counts,
    ...(reasons.length > 0 ? ['', 'Those that had to pay, by reason', ...reasons] : []),
  ].join('\n');
}

function line({ analytics: { now } }: InForce, rates: Rates | undefined): string {
  const counts = shown.map((name) => `${name}=${rates ? rates[name].toFixed(0) : now.since_start[name]}`);
  const unit = rates ? '/s' : ' since start';
  return `${new Date().toISOString()}  ${counts.join(' ')}${unit}  tokens=${now.bucket.tokens} attack=${now.attack ? now.attacked_zones.map(zoneName).join() : 'none'}`;
}

const zoneName = (name: string): string => (name === '' ? '(outside every known zone)' : name);
