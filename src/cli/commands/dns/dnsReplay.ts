import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { AttackDetector, ZoneSeed } from '../../../dns/detector/index.ts';
import { datagramsOf, PcapError, type ReplayResult, replay } from '../../../dns/replay/index.ts';
import { ZoneFile } from '../../../dns/zones/index.ts';
import { openNamed } from '../../../platform/regularFile/index.ts';
import { profileSensitivities, type Rule, sensitivities, type ZonePolicy } from '../../../rules/index.ts';
import { readRuleFile } from '../../../rules/plan/index.ts';
import { readTextFile } from '../../files/readTextFile.ts';
import { OperatorError, UsageError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';

interface ReplayOptions {
  readonly profileSensitivity: Rule['profile_sensitivity'];
  readonly rateSensitivity: Rule['rate_sensitivity'];
  readonly burstSensitivity: Rule['burst_sensitivity'];
  readonly zone: readonly string[];
  readonly zones?: string;
  readonly port: number;
  readonly learnForMinutes: number;
  readonly json?: boolean;
}

const MAX_NAMES_SHOWN = 20;
/** Members that the simulated rule and zone policies need, but that have no effect. They belong to no account. */
const UNUSED = { id: 'replay', created_on: '', modified_on: '' } as const;
const REPLAY_RULE = { ...UNUSED, scope: 'global', name: 'replay', mode: 'enabled' } as const;

/** `floodgate dns replay FILE.pcap`: reports how a rule would have treated recorded traffic. */
export function registerDnsReplay(dns: Command): void {
  dns
    .command('replay')
    .description('simulate a rule with recorded traffic before it is enabled')
    .argument('<file>', 'a recording in pcap format: tcpdump -w FILE udp port 53')
    .addOption(sensitivityOption('--profile-sensitivity <level>', profileSensitivities, 'low'))
    .addOption(sensitivityOption('--rate-sensitivity <level>', sensitivities, 'medium'))
    .addOption(sensitivityOption('--burst-sensitivity <level>', sensitivities, 'medium'))
    .option('--zone <name=file...>', 'zones whose names are known from the start', [])
    .option('--zones <file>', 'apply the zone policies of a rules file, its list "zones"')
    .option('--port <port>', 'the port of the DNS servers in the recording', portNumber, 53)
    .option(
      '--learn-for-minutes <minutes>',
      'without zones: minutes of traffic to learn from before anything is dropped',
      minutes,
      0,
    )
    .option('--json', 'print a JSON object')
    .action(async (file: string, options: ReplayOptions) => {
      const result = await replayFile(file, options);
      const existingLimited = Object.fromEntries(result.existingLimited);
      await print(options.json ? JSON.stringify({ ...result, existingLimited }) : formatReplay(result));
    });
}

async function replayFile(file: string, options: ReplayOptions): Promise<ReplayResult> {
  const policies = options.zones === undefined ? [] : policiesOf(options.zones);
  try {
    return await replay(
      datagramsOf(createReadStream(file, { fd: openNamed(file) })),
      (startMs) => detectorAt(startMs, policies, options),
      options.port,
    );
  } catch (error) {
    if (error instanceof PcapError) throw new OperatorError(`${file}: ${error.message}`);
    if (error instanceof Error && 'code' in error)
      throw new OperatorError(`${file} cannot be read: ${error.message}`);
    throw error;
  }
}

/** Returns the zone policies of a rules file. Throws OperatorError if it cannot be read or has no list of them. */
function policiesOf(file: string): ZonePolicy[] {
  const { zones } = readRuleFile(readTextFile(file, '--zones'), file);
  if (zones === undefined)
    throw new OperatorError(
      `${file}: zones is missing: --zones needs a rules file with a list "zones" of zone policies`,
    );
  return zones.map((settings) => ({ ...UNUSED, ...settings }));
}

async function detectorAt(
  startMs: number,
  policies: readonly ZonePolicy[],
  options: ReplayOptions,
): Promise<AttackDetector> {
  const detector = new AttackDetector(
    { high: 0, low: 0 },
    { learnForMinutes: options.learnForMinutes },
    startMs,
  );
  for (const zone of options.zone) await seed(detector, zone);
  const settings = {
    profile_sensitivity: options.profileSensitivity,
    rate_sensitivity: options.rateSensitivity,
    burst_sensitivity: options.burstSensitivity,
  };
  detector.setRule({ ...REPLAY_RULE, ...settings }, startMs);
  detector.setZonePolicies(policies, startMs);
  return detector;
}

async function seed(detector: AttackDetector, text: string): Promise<void> {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new UsageError(`--zone ${text} has no file: use example.com=FILE`);
  const name = text.slice(0, equals);
  try {
    const zone = new ZoneSeed({ zone: name }, { detector });
    for await (const { owner, type } of new ZoneFile(text.slice(equals + 1), name).records())
      zone.add(owner, type);
    zone.finish();
  } catch (error) {
    throw new OperatorError(
      `the zone ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function formatReplay(result: ReplayResult): string {
  const count = (outcome: string) => result.outcomes[outcome] ?? 0;
  const names = [...result.existingLimited].sort(([, one], [, other]) => other - one);
  const shown = names.slice(0, MAX_NAMES_SHOWN).map(([name, queries]) => `  ${name}  ${queries}`);
  const more = names.length > MAX_NAMES_SHOWN ? [`  and ${names.length - MAX_NAMES_SHOWN} more`] : [];
  return [
    `${result.queries} queries and ${result.answers} answers in ${result.seconds.toFixed(0)} s; an attack was active for ${result.attackSeconds} s`,
    `  passed without paying  ${count('passed')}`,
    `  paid a token           ${count('paid')}`,
    `  dropped                ${count('dropped')}`,
    `  answered with TC=1     ${count('truncated')}`,
    `  would drop             ${count('wouldDrop')} (passed: no threshold is known yet, or the policy of the zone limits nothing)`,
    `  unreadable             ${result.unreadable}`,
    ...Object.entries(result.reasons).map(([reason, queries]) => `    ${reason}: ${queries}`),
    names.length === 0
      ? 'No existing name would have been limited.'
      : 'Existing names (proven by an answer in the recording) that would have been limited, with the number of queries:',
    ...shown,
    ...more,
  ].join('\n');
}

const sensitivityOption = (flag: string, levels: readonly string[], standard: string): Option =>
  new Option(flag).choices(levels).default(standard);

function portNumber(value: string): number {
  const port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port > 0xffff)
    throw new InvalidArgumentError('It must be a port, 0 to 65535.');
  return port;
}

function minutes(value: string): number {
  if (!/^\d{1,6}$/.test(value)) throw new InvalidArgumentError('It must be a whole number of minutes.');
  return Number(value);
}
