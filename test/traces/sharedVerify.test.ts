import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateSharedTraces, openSharedTraces } from '../../src/ethereum/store/shared/index.ts';
import { type Hash, indexBlock, segmentOf } from '../../src/ethereum/traces/index.ts';
import { verifySharedIndex } from '../../src/server/index.ts';
import { shape } from '../contract/growingChain.ts';
import { floodgate } from '../rules/support/command.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { Random } from '../support/random.ts';
import { newChain } from '../support/sharedIndex.ts';
import { syntheticBlock } from '../support/syntheticChain.ts';

/** More segments than are verified at once. Each has blocks at its end, which are linked to the next segment. */
const SEGMENTS = 12;
const DAMAGED = 5;
/** A block in another segment. */
const DAMAGED_ROW = 7 * 1024 + 1021;

describe.skipIf(!hasClickHouse)(`floodgate verify --trace-store${WITHOUT_CLICKHOUSE}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-verify-'));
  const record = join(folder, 'record');
  let clickHouse: ClickHouseServer;
  beforeAll(async () => {
    clickHouse = await ClickHouseServer.start();
    await migrateSharedTraces(clickHouse.url());
    const traces = openSharedTraces(clickHouse.url());
    const writer = traces.writer(newChain());
    const random = new Random(3);
    for (let segment = 0; segment < SEGMENTS; segment++) {
      let parentHash: Hash | undefined;
      const blocks = [];
      for (let number = segment * 1024 + 1020; number < segment * 1024 + 1024; number++) {
        const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
        parentHash = header.hash;
        blocks.push(indexBlock(header, traces));
      }
      await writer.write(blocks);
    }
    await traces.close();
  });
  afterAll(async () => {
    await clickHouse?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Verifies the index and returns the problems and the numbers of the verified segments, in order. */
  async function verify(killAfter = Number.POSITIVE_INFINITY) {
    const [problems, segments]: [string[], number[]] = [[], []];
    const progress = (line: string): void => {
      const [, first] = /verified blocks (\d+) to \d+$/.exec(line) ?? [];
      if (first === undefined) return;
      segments.push(Number(first) / 1024);
      if (segments.length === killAfter) throw new Error('killed');
    };
    for await (const problem of verifySharedIndex(clickHouse.url(), { record, progress }))
      problems.push(problem);
    return { problems, segments };
  }
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

  it('continues after an interruption, and verifies the newest segment again', async () => {
    await expect(verify(4)).rejects.toThrow('killed');
    expect(readFileSync(record, 'utf8').split('\n')).toHaveLength(5);
    appendFileSync(record, '127.0.0.1');
    await expect(verify(2)).rejects.toThrow('killed');
    expect(await verify()).toEqual({ problems: [], segments: numbers(6, SEGMENTS - 2) });
    expect(existsSync(record)).toBe(false);
  });

  it('reports each damaged block, and does not record its segment', async () => {
    const chunk = 'chunk = 0 SETTINGS mutations_sync = 2';
    const damage =
      "ALTER TABLE trace_chunks UPDATE bytes = concat(substring(bytes, 1, length(bytes) - 1), 'x') WHERE";
    await clickHouse.query(`${damage} intDiv(number, 1024) = ${DAMAGED} AND ${chunk}`);
    await clickHouse.query(
      `ALTER TABLE trace_blocks UPDATE timestamp = 1 WHERE number = ${DAMAGED_ROW} SETTINGS mutations_sync = 2`,
    );
    const { problems, segments } = await verify();
    expect(problems).toHaveLength(5);
    for (const problem of problems.slice(0, 4))
      expect(problem).toMatch(/chunk 0 of block 61\d\d is missing, or does not have its checksum/);
    expect(problems[4]).toMatch(new RegExp(`the row of block ${DAMAGED_ROW} is damaged$`));
    expect(segments).toEqual(
      numbers(0, SEGMENTS - 2).filter((segment) => ![DAMAGED, segmentOf(DAMAGED_ROW)].includes(segment)),
    );
    const command = ['verify', '--trace-store', clickHouse.url(), '--record', record];
    const { status, stdout, stderr } = await floodgate(command);
    expect(stdout.trimEnd().split('\n')).toEqual(problems);
    expect(status, stderr).toBe(1);
    expect(stderr).toContain('floodgate index --to-store --again RANGE');
    expect((await floodgate(['verify', '--record', record])).stderr).toContain(
      '--record needs --trace-store',
    );
  });

  it('neither changes nor removes a file that is not a record', async () => {
    const other = join(folder, 'other');
    for (const text of ['notes of the operator\n', 'without a line break']) {
      writeFileSync(other, text);
      const { status, stderr } = await floodgate([
        'verify',
        '--trace-store',
        clickHouse.url(),
        '--record',
        other,
      ]);
      expect(stderr).toContain(`--record is ${other}, which is not a list of verified segments`);
      expect(status).not.toBe(0);
      expect(readFileSync(other, 'utf8')).toBe(text);
    }
  });
});
