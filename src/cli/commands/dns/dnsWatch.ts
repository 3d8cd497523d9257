import type { Command } from 'commander';
import type { Counts } from '../../../dns/analytics/index.ts';
import type { Attack } from '../../../dns/attacks/index.ts';
import { ApiFailure, type RulesClient } from '../../../rules/client/index.ts';
import { print } from '../../output/print.ts';
import { type GuardStatus, guardStatus, readAttack } from '../guardClient.ts';
import { addConnectionFlags, connect } from '../rules/rulesConnection.ts';
import { formatTable, printable } from '../rules/rulesTable.ts';
import { limitedOf, listOf, mostLimited, zonesOf } from './dnsAttacks.ts';

const INTERVAL_MS = 1000;
const MAX_ATTACKS = 10;
/** Moves the cursor home and clears the screen. */
const CLEAR = '\x1b[H\x1b[2J';

interface WatchOptions {
  readonly once?: boolean;
  readonly plain?: boolean;
}

interface GuardSnapshot {
  readonly status: GuardStatus;
  readonly attack: Attack | undefined;
}

/**
 * `floodgate dns watch`: shows the guard live. Each second it redraws the screen or, in a pipe, writes one line. Keeps
 * waiting while the server restarts.
 */
export function registerDnsWatch(dns: Command): void {
  addConnectionFlags(dns.command('watch').description('show the guard live, updated each second'))
    .option('--once', 'print once and exit')
    .option('--plain', 'write one line per second, as in a pipe')
    .action(async (options: WatchOptions, command: Command) => {
      const { client } = await connect(command);
      const isPicture = process.stdout.isTTY && !options.once && !options.plain;
      let before: { counts: Counts; atMs: number } | undefined;
      for (;;) {
        const seen = await readSnapshot(client, options);
        if ('waitsFor' in seen) {
          before = undefined;
          await print(`${isPicture ? CLEAR : `${new Date().toISOString()}  `}${seen.waitsFor}`);
        } else {
          const atMs = Date.now();
          const seconds = before ? (atMs - before.atMs) / 1000 : 0;
          const rates = before && ratesOf(seen.status.since_start, before.counts, seconds);
          before = { counts: seen.status.since_start, atMs };
          if (isPicture) await print(`${CLEAR}${picture(seen, rates)}`);
          else await print(options.once ? picture(seen, rates) : line(seen, rates));
        }
        if (options.once) return;
        await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
      }
    });
}

/** Returns the state of the guard, or the reason why the server does not respond yet. */
async function readSnapshot(
  client: RulesClient,
  { once }: WatchOptions,
): Promise<GuardSnapshot | { waitsFor: string }> {
  try {
    const status = await guardStatus(client);
    const largest = status.attacks.toSorted((one, other) => other.now.queries - one.now.queries)[0];
    return { status, attack: largest && (await readAttack(client, largest.id)) };
  } catch (error) {
    if (once === true || !isTemporary(error)) throw error;
    return { waitsFor: printable(`waiting for the server: ${error.message}`) };
  }
}

/** Whether an error may disappear by itself: the server does not respond, is starting or is stopping. */
const isTemporary = (error: unknown): error is ApiFailure =>
  error instanceof ApiFailure && (error.status === undefined ? error.afterLostResponse : error.status >= 500);

const shown = ['passed', 'paid', 'would_drop', 'dropped', 'truncated'] as const;
type Rates = Readonly<Record<(typeof shown)[number], number>>;

function ratesOf(now: Rates, before: Rates, seconds: number): Rates {
  // The counters of a restarted guard begin at zero, so a difference may be negative.
  const rate = (name: (typeof shown)[number]) => Math.max(0, now[name] - before[name]) / seconds;
  return Object.fromEntries(shown.map((name) => [name, rate(name)])) as Rates; // keyed by `shown`
}

function picture({ status, attack }: GuardSnapshot, rates: Rates | undefined): string {
  const { bucket, threshold, rule, since_start: counted } = status;
  const counts = shown.map((name) => {
    const perSecond = rates ? `${rates[name].toFixed(0)}/s` : '';
    return `  ${name.padEnd(12)}${String(counted[name]).padStart(14)}${perSecond.padStart(12)}`;
  });
  const reasons = Object.entries(counted.reasons).flatMap(([reason, outcomes]) =>
    Object.entries(outcomes).map(([outcome, queries]) => `  ${`${reason} ${outcome}`.padEnd(24)}${queries}`),
  );
  const zones = status.attacked_zones.map(zoneName).join(', ');
  const inForce = rule
    ? `${rule.id}  ${rule.mode}, profile ${rule.profile_sensitivity}, rate ${rule.rate_sensitivity}, burst ${rule.burst_sensitivity}`
    : 'none: every query passes unless it is denied. `floodgate rules create` creates one';
  return [
    `Rule       ${printable(inForce)}`,
    `Attack     ${status.attack ? `ON: ${printable(zones)}` : 'none'}`,
    `Profile    ${status.profile_names} names, ${(status.profile_bytes / 1e6).toFixed(1)} MB${status.ready ? '' : ' (learning: the rule drops nothing yet)'}`,
    `Threshold  ${threshold.rate_per_second} queries/s, burst ${threshold.burst}`,
    `Bucket     ${bucket.tokens} of ${bucket.burst} tokens, refilled at ${bucket.rate_per_second}/s`,
    ...(status.not_ready === undefined ? [] : [`Not ready  ${printable(status.not_ready)}`]),
    '',
    'Queries since the start of the guard',
    ...counts,
    ...(reasons.length > 0 ? ['', 'Queries that cost a token, by reason', ...reasons] : []),
    ...(status.attacks.length > 0 ? ['', attackTable(status.attacks)] : []),
    ...(attack ? attackLines(attack) : []),
  ].join('\n');
}

/** Returns a table of the zones under attack, with the rates of the last second. */
function attackTable(attacks: GuardStatus['attacks']): string {
  const headings = [
    'zone under attack',
    'since (UTC)',
    'queries/s',
    'limited/s',
    'would drop/s',
    'known answered',
  ];
  const rows = attacks
    .toSorted((one, other) => other.now.queries - one.now.queries)
    .slice(0, MAX_ATTACKS)
    .map((attack) => [
      zonesOf(attack, 1),
      attack.started_on.slice(11, 19),
      ...[attack.now.queries, attack.now.limited, attack.now.would_drop].map((rate) => rate.toFixed(0)),
      `${attack.known_names.answered} of ${attack.known_names.asked}`,
    ]);
  return formatTable(headings, rows);
}

function attackLines(attack: Attack): string[] {
  const { top } = attack;
  return [
    '',
    `Attack on ${zonesOf(attack, 3)}: ${attack.queries} queries, ${limitedOf(attack)}; ${attack.id}`,
    ...listOf(mostLimited(attack), top.names, top.weight),
    ...listOf('Networks (addresses may be forged)', top.networks, top.weight),
  ];
}

function line({ status, attack }: GuardSnapshot, rates: Rates | undefined): string {
  const counts = shown.map((name) => `${name}=${rates ? rates[name].toFixed(0) : status.since_start[name]}`);
  const unit = rates ? '/s' : ' since start';
  const zones = status.attack ? printable(status.attacked_zones.map(zoneName).join()) : 'none';
  const [name] = attack?.top.names ?? [];
  const [network] = attack?.top.networks ?? [];
  const top = name && network ? ` name=${name.value} network=${network.value}` : '';
  return `${new Date().toISOString()}  ${counts.join(' ')}${unit}  tokens=${status.bucket.tokens} attack=${zones}${printable(top)}`;
}

const zoneName = (name: string): string => (name === '' ? '(outside every known zone)' : name);
