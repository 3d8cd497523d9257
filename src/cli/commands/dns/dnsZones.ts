import type { Command } from 'commander';
import type { ReportedAssessment } from '../../../dns/analytics/index.ts';
import { print } from '../../output/print.ts';
import { forgetZone, readZoneAssessments } from '../guardClient.ts';
import { addConnectionFlags, connect } from '../rules/rulesConnection.ts';
import { formatTable } from '../rules/rulesTable.ts';
import { policyOf, readZone } from '../zones.ts';

const HEADINGS = [
  'zone',
  'assessment',
  'judged by',
  'profile',
  'rate',
  'queries/day',
  'limited 1h',
  '24h',
  '7d',
  'proposed rate',
  'burst',
];

/** `floodgate dns zones`: lists zones, and whether a rule can be enabled for them. */
export function registerDnsZones(dns: Command): void {
  addConnectionFlags(
    dns.command('zones').description('list the busiest zones, and whether a rule can be enabled for them'),
  )
    .argument('[zone]', 'only this zone')
    .option('--json', 'print one JSON object per line')
    .action(async (zone: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const zones = await readZoneAssessments((await connect(command)).client, zone);
      if (json) for (const one of zones) await print(JSON.stringify(one));
      else if (zones.length === 0) await print('The guard has received no query for such a zone.');
      else await print(formatTable(HEADINGS, zones.map(rowOf)));
    });
}

/** `floodgate dns forget ZONE`: discards what guards learned about a zone. */
export function registerDnsForget(dns: Command): void {
  addConnectionFlags(
    dns
      .command('forget')
      .description('discard the names and rates that guards learned for a zone with a policy'),
  )
    .argument('<zone>', 'name of the zone', readZone)
    .action(async (zone: string, _options: object, command: Command) => {
      const { client } = await connect(command);
      await forgetZone(client, (await policyOf(client, zone)).id);
      await print(`All guards forget ${zone} within two seconds.`);
    });
}

function rowOf(reported: ReportedAssessment): string[] {
  const { zone, assessment, judged_by, profile_sensitivity, rate_sensitivity, proposed } = reported;
  const limited = [reported.hour, reported.day, reported.week].map(({ limited_share }) =>
    percent(limited_share[profile_sensitivity]?.[rate_sensitivity] ?? 0),
  );
  return [
    zone,
    assessment.replaceAll('_', ' '),
    judged_by,
    profile_sensitivity,
    rate_sensitivity,
    String(reported.day.queries),
    ...limited,
    String(proposed?.rate ?? '-'),
    String(proposed?.burst ?? '-'),
  ];
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
