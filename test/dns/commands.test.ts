import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { isTerminalAvailable, onTerminal } from '../server/support/onTerminal.ts';
import { PROGRAM } from '../support/program.ts';
import { query } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { ACCOUNT, type Program, startProgram, TOKEN } from './support/program.ts';
import { noDnsdist } from './support/realDnsdist.ts';
import { recordingOf } from './support/recording.ts';

const run = promisify(execFile);
const RULE = {
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'high',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

let folder: string;
let server: AuthorityServer;
let program: Program;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  await writeFile(join(folder, 'zone'), ZONE_TEXT);
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  program = await startProgram(folder, server, '--dns-zones', `${ZONE_NAME}=${join(folder, 'zone')}`);
});
afterAll(async () => {
  await program.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const floodgate = async (...words: string[]): Promise<string> => {
  const env = {
    ...process.env,
    FLOODGATE_URL: program.url,
    FLOODGATE_ACCOUNT: ACCOUNT,
    FLOODGATE_TOKEN: TOKEN,
  };
  const { stdout } = await run(process.execPath, [PROGRAM, ...words], { env });
  return stdout;
};

it('dns explain and dns watch report that no rule exists, and that denied queries do not pass', async () => {
  await Promise.all([
    expect(floodgate('dns', 'explain', 'www.example.test')).rejects.toMatchObject({
      stderr: expect.stringContaining('every query passes unless it is denied'),
    }),
    expect(floodgate('dns', 'watch', '--once')).resolves.toMatch(
      /Rule +none: every query passes unless it is denied/,
    ),
  ]);
});

it('dns watch fails with a hint instead of waiting if the account has no guard', async () => {
  await expect(floodgate('dns', 'watch', '--account', 'other')).rejects.toMatchObject({
    stderr: expect.stringMatching(/no DNS guard for account other\. Start it with dns\.account.* --account/),
  });
});

describe('with a rule', () => {
  beforeAll(async () => {
    await program.api('POST', '', RULE);
  });

  it('dns explain prints the verdict for a name and the reason', async () => {
    const explained = (...words: string[]) => floodgate('dns', 'explain', ...words);
    const [known, unknown, byRate, json] = await Promise.all([
      explained('WWW.example.test'),
      explained('none.example.test'),
      explained('x.users.example.test'),
      explained('www.example.test', '--type', 'txt', '--json'),
      expect(explained('a..b')).rejects.toMatchObject({
        stderr: expect.stringContaining('not a domain name'),
      }),
    ]);
    expect(known).toMatch(/passes\n.*uses no token.*\n.*known, with A, AAAA/);
    expect(unknown).toMatch(/the name is not known(.|\n)*zone +example\.test/);
    expect(byRate).toMatch(/because the zone is limited by rate\n(.|\n)*judged by rate alone/);
    expect(JSON.parse(json)).toMatchObject({ known: true, reason: 'unknownType', type: 'TXT' });
  });

  it('dns watch shows the rule, the profile, the thresholds and the counts', async () => {
    const shown = await floodgate('dns', 'watch', '--once');
    expect(shown).toMatch(/Rule +[0-9a-f-]{36} +enabled, profile high/);
    expect(shown).toMatch(/Threshold +100 queries\/s, burst 500/);
    expect(shown).toMatch(/Profile +\d+ names/);
    expect(shown).toMatch(/dropped +0/);
  });
});

describe.skipIf(!isTerminalAvailable)('dns watch on a terminal', () => {
  const watch = (flags: readonly string[], endsAt: string) =>
    onTerminal(['dns', 'watch', ...flags], {
      env: { FLOODGATE_URL: program.url, FLOODGATE_ACCOUNT: ACCOUNT, FLOODGATE_TOKEN: TOKEN },
      // Ctrl-C
      typed: { [endsAt]: '\x03' },
    });

  it('redraws a table with the rates of the last second until Ctrl-C', async () => {
    const { output } = await watch([], '0/s'.padStart(12));
    expect(output.match(/^.*Rule {2}/gm)?.length).toBeGreaterThan(1);
    expect(output).toMatch(/passed +\d+ +\d+\/s/);
  });

  it('writes a line per second with --plain', async () => {
    const { output } = await watch(['--plain'], '/s  tokens=');
    expect(output).toMatch(/passed=\d+ .* since start {2}tokens=[\s\S]*passed=\d+ .*\/s {2}tokens=/);
    expect(output).not.toContain('Rule  ');
  });
});

it('dns replay reports why a file is not a recording', async () => {
  const refused = (file: string, why: string) =>
    expect(floodgate('dns', 'replay', join(folder, file))).rejects.toMatchObject({
      stderr: expect.stringContaining(why),
    });
  await Promise.all([refused('zone', 'tcpdump -w'), refused('none', 'cannot be read')]);
});

describe('dns replay --zones', () => {
  /** Writes a rules file, and returns the arguments of a replay with it. */
  const replayWith = async (name: string, rulesFile: string): Promise<string[]> => {
    await writeFile(join(folder, name), rulesFile);
    const zone = ['--zone', `${ZONE_NAME}=${join(folder, 'zone')}`];
    return ['dns', 'replay', join(folder, 'pcap'), '--json', ...zone, '--zones', join(folder, name)];
  };

  it('applies the zone policies of a rules file to the recording', async () => {
    const startMs = Date.UTC(2026, 10, 20);
    const queries = Array.from({ length: 90 }, (_, n) => ({
      timeMs: startMs + n,
      packet: query(`x${n}.${ZONE_NAME}`),
    }));
    await writeFile(join(folder, 'pcap'), recordingOf(queries));
    const limit = `{zone: ${ZONE_NAME}, judge_by: rate, rate: 10, burst: 20`;
    const resultOf = async (...file: [string, string]) =>
      JSON.parse(await floodgate(...(await replayWith(...file))));
    const [limited, json, monitored, other] = await Promise.all([
      resultOf('limit.yaml', `rules: []\nzones:\n  - ${limit}}`),
      resultOf(
        'limit.json',
        JSON.stringify({ rules: [], zones: [{ zone: ZONE_NAME, judge_by: 'rate', rate: 10, burst: 20 }] }),
      ),
      resultOf('monitor.yaml', `rules: []\nzones:\n  - ${limit}, mode: monitoring}`),
      resultOf('other.yaml', 'rules: []\nzones: [{zone: example.net, judge_by: rate, rate: 1}]'),
    ]);
    expect(limited.outcomes).toEqual({ paid: 16, dropped: 74 });
    expect(limited.reasons).toEqual({ 'paid zoneRate': 16, 'dropped zoneRate': 74 });
    expect(json).toEqual(limited);
    expect(monitored.outcomes).toEqual({ paid: 16, wouldDrop: 74 });
    expect(other.outcomes).toEqual({ passed: 90 });
  });

  it('reports faults of the file with its name, the line, the field and what is allowed', async () => {
    const refused = async (name: string, rulesFile: string, why: RegExp) =>
      expect(floodgate(...(await replayWith(name, rulesFile)))).rejects.toMatchObject({
        stderr: expect.stringMatching(why),
      });
    const policies = Array.from({ length: 1001 }, (_, n) => `{zone: z${n}.example}`);
    await Promise.all([
      refused(
        'rate.yaml',
        'rules: []\nzones:\n  - {zone: a.example, rate: 0}',
        /rate\.yaml:3: .*rate.*1.*400/,
      ),
      refused('none.yaml', 'rules: []', /none\.yaml: zones is missing: .*a list "zones"/),
      refused(
        'many.yaml',
        `rules: []\nzones: [${policies}]`,
        /many\.yaml:2: zones has 1001 entries; allowed: at most 1000/,
      ),
      expect(
        floodgate('dns', 'replay', join(folder, 'pcap'), '--zones', join(folder, 'absent')),
      ).rejects.toMatchObject({ stderr: expect.stringMatching(/--zones: .*absent cannot be read/) }),
    ]);
  });
});

it('dns dnsdist-config prints a configuration that dnsdist accepts, and rejects values that are not addresses', async (ctx) => {
  const flags = ['--listen', '127.0.0.1:53', '--servers', '192.0.2.1:53', '[2001:db8::1]:53'];
  flags.push('--listen', '[::1]:53');
  flags.push('--transfers-allow', '198.51.100.0/24', '2001:db8:5::/48');
  flags.push('--proxy-protocol-servers', '192.0.2.1:53');
  const evil = ['dns', 'dnsdist-config', '--listen', '127.0.0.1:53', '--servers', '"}) os.exit() --:53'];
  const network = '192.0.2.0/24") os.exit() --';
  const [text] = await Promise.all([
    floodgate('dns', 'dnsdist-config', ...flags),
    expect(
      floodgate('dns', 'dnsdist-config', ...flags.slice(0, 4), '--proxy-protocol-servers', '192.0.2.9:53'),
    ).rejects.toThrow(/contains 192\.0\.2\.9 port 53, which is not in --servers/),
    expect(floodgate(...evil)).rejects.toThrow(/must be an IP address and a port/),
    expect(
      floodgate('dns', 'dnsdist-config', ...flags.slice(0, 4), '--transfers-allow', network),
    ).rejects.toThrow(/has a prefix that is not a number from 0 to 32/),
  ]);
  expect(text).toContain('setLocal("127.0.0.1:53")\naddLocal("[::1]:53")\n');
  expect(text).toContain('newServer({address="[2001:db8::1]:53"})');
  expect(text).toContain('newServer({address="192.0.2.1:53",useProxyProtocol=true})');
  expect(text).toContain('allowed:addMask("198.51.100.0/24") allowed:addMask("2001:db8:5:0:0:0:0:0/48")');
  if (noDnsdist) return ctx.skip(noDnsdist);
  const file = join(folder, 'dnsdist.conf');
  await writeFile(file, text);
  const { stdout } = await run('/usr/bin/dnsdist', ['--check-config', '-C', file]);
  expect(stdout).toContain('OK!');
});
