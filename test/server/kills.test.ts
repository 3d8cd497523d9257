import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AttackDetector, type Learned, type ProfileEntry } from '../../src/dns/detector/index.ts';
import { questionOf } from '../../src/dns/protocol/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { openRulesStorage, verifyRules } from '../../src/rules/store/lmdb/index.ts';
import { exportProfile } from '../../src/server/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { rulesPath } from '../rules/support/samples.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { PROGRAM } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { type FloodgateProcess, startFloodgateProcess, TOKEN } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** Kills (SIGKILL) at random moments. `kill.test.ts` and `faults.test.ts` kill servers that change rules and the index. */

const SEED = Date.now();
const random = new Random(SEED);
const KILLS = sizeInSearch(40, { ordinary: 4 });

describe(`a server that is killed while it changes tokens, seed ${SEED}`, () => {
  const WRITERS = 8;
  const CHANGES_PER_KILL = 60;
  /** Share of the created tokens that are revoked. */
  const REVOKED = 0.8;

  interface KnownToken {
    readonly id: string;
    readonly value: string;
    /** `revoking`: the server has not acknowledged the revocation. */
    state: 'valid' | 'revoking' | 'revoked';
  }

  const send = (server: FloodgateProcess, path: string, init: RequestInit & { token?: string } = {}) =>
    fetch(`${server.url}/client/v4${path}`, {
      ...init,
      headers: { authorization: `Bearer ${init.token ?? TOKEN}` },
    });

  /** Creates and revokes tokens until the server is killed. */
  async function change(server: FloodgateProcess, tokens: KnownToken[]): Promise<void> {
    try {
      for (;;) {
        const body = { label: 'kill', accounts: ['a'], permissions: ['dns_protection:read'] };
        const created = await send(server, '/user/tokens', { method: 'POST', body: JSON.stringify(body) });
        const { result } = (await created.json()) as { result: { id: string; value: string } };
        const token: KnownToken = { ...result, state: 'valid' };
        tokens.push(token);
        if (!random.chance(REVOKED)) continue;
        token.state = 'revoking';
        const revoked = await send(server, `/user/tokens/${token.id}`, { method: 'DELETE' });
        expect(revoked.status, await revoked.text()).toBe(200);
        token.state = 'revoked';
      }
    } catch (error) {
      // fetch throws a TypeError when the connection breaks.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  it('loses no acknowledged token, and no acknowledged revocation', async () => {
    const dataDir = temporaryFolder();
    const tokens: KnownToken[] = [];
    let interrupted = 0;
    for (let kill = 0; kill <= KILLS; kill++) {
      const server = await startFloodgateProcess({ dataDir });
      for (const token of tokens) {
        const { status } = await send(server, rulesPath('a'), { token: token.value });
        if (token.state === 'revoking') token.state = status === 200 ? 'valid' : 'revoked';
        expect([token.id, status]).toEqual([token.id, token.state === 'valid' ? 200 : 401]);
      }
      if (kill === KILLS) await server.stop();
      else {
        const enough = tokens.length + random.between(1, CHANGES_PER_KILL);
        const writers = Array.from({ length: WRITERS }, () => change(server, tokens));
        await until('enough tokens', () => tokens.length >= enough);
        await server.kill();
        await Promise.all(writers);
        if (tokens.some(({ state }) => state === 'revoking')) interrupted++;
      }
    }
    expect(interrupted).toBeGreaterThan(KILLS / 4);
    expect(await verifyRules(join(dataDir, 'rules'))).toEqual([]);
  });
});

it(`a token that a command has printed is valid, even if the command is killed then, seed ${SEED}`, async () => {
  const dataDir = temporaryFolder();
  await openRulesStorage(dataDir).close();
  const printed: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawnProgram(['token', 'create', '--all-accounts', '--data-dir', dataDir]);
    const ended = endOf(child);
    let output = '';
    const isPrinted = new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.includes('\n')) resolve();
      }),
    );
    await Promise.race([isPrinted, ended]);
    child.kill('SIGKILL');
    await ended;
    printed.push(output.split('\n')[0] ?? '');
  }
  const server = await startFloodgateProcess({ dataDir });
  for (const token of printed) {
    const { status } = await fetch(`${server.url}/client/v4${rulesPath('a')}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect([token.slice(0, 3), status]).toEqual(['fg_', 200]);
  }
  await server.stop();
});

describe(`the profile of a guard, seed ${SEED}`, () => {
  /** Numbers of names in two profiles. A chunk of the store has 4,096 names. */
  const SIZES = [50_000, 30_000] as const;
  const KEY = { high: 3, low: 4 };

  interface Profile {
    readonly learned: Learned;
    readonly entries: readonly ProfileEntry[];
  }

  function profileOf(zone: string, names: number): Profile {
    const detector = new AttackDetector(KEY, {}, Date.now());
    detector.zones.add(zone);
    const entries = Array.from({ length: names }, (_, i): ProfileEntry => {
      const { hashHigh, hashLow } = questionOf(`n${i}.${zone}`, 1, KEY);
      return [hashHigh, hashLow, (1 << 16) | 1, 0];
    });
    return { learned: JSON.parse(JSON.stringify(detector.learned(Date.now()))), entries };
  }

  async function save(dataDir: string, { learned, entries }: Profile): Promise<void> {
    const store = DnsStore.open(dataDir);
    await store.save(learned, entries);
    await store.close();
  }

  async function load(dataDir: string): Promise<Profile | undefined> {
    const store = DnsStore.open(dataDir);
    const stored = store.load();
    const profile = stored && { learned: stored.learned, entries: [...stored.entries] };
    await store.close();
    return profile;
  }

  it('is the old or the new one after an import that was killed', async () => {
    const [first, second] = [profileOf('a.test', SIZES[0]), profileOf('b.test', SIZES[1])];
    const files: string[] = [];
    for (const profile of [first, second]) {
      const dataDir = temporaryFolder();
      await save(dataDir, profile);
      files.push(join(dataDir, 'profile'));
      await exportProfile(dataDir, files.at(-1) ?? '');
    }
    const dataDir = temporaryFolder();
    const importing = (i: number) =>
      spawnProgram(['dns', 'profile', 'import', files[i % 2] ?? '', '--replace', '--data-dir', dataDir]);
    const startedMs = performance.now();
    expect(await endOf(importing(0))).toBe(0);
    const durationMs = performance.now() - startedMs;
    let interrupted = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      if (await isKilledWithin(durationMs, importing(kill))) interrupted++;
      const profile = await load(dataDir);
      expect(profile).toEqual(profile?.entries.length === SIZES[0] ? first : second);
    }
    expect(interrupted).toBeGreaterThan(0);
  });

  it('has all names after a guard was killed while it stored the profile at its stop', async () => {
    const dataDir = temporaryFolder();
    await save(dataDir, profileOf('a.test', SIZES[0]));
    const namesOf = (profile: Profile | undefined): string[] =>
      (profile?.entries ?? []).map(([high, low]) => `${high} ${low}`).toSorted();
    const start = (): Promise<FloodgateProcess> =>
      startFloodgateProcess({
        dataDir,
        whenListening: true,
        args: ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'],
      });
    const whole = await start();
    const startedMs = performance.now();
    expect(await whole.stop()).toBe(0);
    const durationMs = performance.now() - startedMs;
    const before = await load(dataDir);
    expect(before?.entries).toHaveLength(SIZES[0]);
    let [interrupted, savedMs] = [0, before?.learned.savedMs ?? 0];
    for (let kill = 0; kill < KILLS; kill++) {
      const guard = await start();
      expect(guard.output()).toContain(`"names":${SIZES[0]},"msg":"restored the profile of an earlier run"`);
      guard.process.kill('SIGTERM');
      if (await isKilledWithin(durationMs, guard.process)) interrupted++;
      const profile = await load(dataDir);
      expect(namesOf(profile)).toEqual(namesOf(before));
      expect(profile?.learned.savedMs).toBeGreaterThanOrEqual(savedMs);
      savedMs = profile?.learned.savedMs ?? 0;
    }
    expect(interrupted).toBeGreaterThan(0);
  });
});

/** Several kills in a row, because a start continues what the previous one began. */
const KILLS_PER_FOLDER = 3;

it(`a server starts after its first start in a new data folder was killed, seed ${SEED}`, async () => {
  const upstream = 'http://127.0.0.1:9';
  const args = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', '127.0.0.1:9'];
  const start = (dataDir: string) => startFloodgateProcess({ upstream, dataDir, args, whenListening: true });
  const startedMs = performance.now();
  await (await start(temporaryFolder())).kill();
  const durationMs = performance.now() - startedMs;
  let interrupted = 0;
  for (let folder = 0; folder < KILLS / KILLS_PER_FOLDER; folder++) {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(dataDir);
    for (let kill = 0; kill < KILLS_PER_FOLDER; kill++) {
      const flags = ['--upstream', upstream, '--port', '0', '--data-dir', dataDir, ...args];
      const child = spawnProgram(['start', ...flags]);
      if (await isKilledWithin(durationMs, child)) interrupted++;
    }
    const server = await start(dataDir);
    expect(await server.stop()).toBe(0);
    const verified = await floodgate(['verify', '--data-dir', dataDir]);
    expect(
      verified.stdout
        .split('\n')
        .toSorted()
        .map((line) => line.split(':')[0]),
    ).toEqual(['', 'dns', 'gateway', 'rules', 'traces']);
    expect(verified.status, verified.stdout).toBe(0);
  }
  expect(interrupted).toBeGreaterThan(0);
});

describe.skipIf(postgresFolder === undefined)(
  `the tables of a rules database${WITHOUT_POSTGRES}, seed ${SEED}`,
  () => {
    it('are created by another `store migrate` after one was killed, and keep their data', async () => {
      const postgres = await Postgres.start();
      try {
        const store = ['--rules-store', postgres.url()];
        const migrate = ['store', 'migrate', ...store];
        const startedMs = performance.now();
        expect(await floodgate(migrate)).toMatchObject({ status: 0 });
        const durationMs = performance.now() - startedMs;
        let interrupted = 0;
        for (let kill = 0; kill < KILLS; kill++) {
          await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
          if (await isKilledWithin(durationMs, spawnProgram(migrate))) interrupted++;
          expect(await floodgate(migrate)).toMatchObject({ status: 0 });
          const created = await floodgate(['token', 'create', '--all-accounts', '--label', 'kept', ...store]);
          expect(created.status, created.stderr).toBe(0);
          if (await isKilledWithin(durationMs, spawnProgram(migrate))) interrupted++;
          expect((await floodgate(['token', 'list', ...store])).stdout).toContain('kept');
        }
        expect(interrupted).toBeGreaterThan(0);
      } finally {
        await postgres.remove();
      }
    });
  },
);

type Child = ReturnType<typeof spawnGuarded>;
type Ending = Pick<ChildProcess, 'once' | 'kill' | 'exitCode' | 'signalCode'>;

const spawnProgram = (args: readonly string[]): Child => {
  const child = spawnGuarded(process.execPath, [PROGRAM, ...args], { env: cleanEnvironment() });
  child.stderr.resume();
  return child;
};

const endOf = (child: Ending): Promise<number | string | null> =>
  new Promise((resolve) => {
    const { exitCode, signalCode } = child;
    if (exitCode !== null || signalCode !== null) return resolve(signalCode ?? exitCode);
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });

/** Kills a process after a random part of a time. Returns whether it was still running. */
async function isKilledWithin(ms: number, child: Ending): Promise<boolean> {
  const ended = endOf(child);
  await Promise.race([ended, pause(ms * random.next())]);
  child.kill('SIGKILL');
  return (await ended) === 'SIGKILL';
}
