/** Time from the start of a guard with a million stored names until the first verdict can use all of them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AttackDetector } from '../../src/dns/detector/index.ts';
import { QueryType, questionOf, typeBit } from '../../src/dns/protocol/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';

const KEY = { high: 0x9e3779b1, low: 0x7f4a7c15 };
const NAMES = 1_000_000;
const ROUNDS = 3;

export async function benchStart(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
  try {
    const nowMs = Date.now();
    const detector = new AttackDetector(KEY, { profile: { maxNames: NAMES } }, nowMs);
    const zone = detector.zones.add('example.test');
    if (zone !== undefined) detector.noteSeeded(zone);
    for (let n = 0; n < NAMES; n++) {
      const question = questionOf(`h${n}.example.test`, QueryType.A, KEY);
      detector.profile.seed(question, typeBit(QueryType.A));
    }
    const store = DnsStore.open(folder);
    await store.save(detector.learned(nowMs), detector.profile.entries());
    await store.close();
    return Array.from({ length: ROUNDS }, () => {
      const startMs = performance.now();
      const reported = execFileSync(process.execPath, [
        fileURLToPath(new URL('startProcess.js', import.meta.url)),
        folder,
      ]);
      return `start with ${NAMES} names  ${reported.toString().trim()}; until the process exited ${(performance.now() - startMs).toFixed(0)} ms`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
