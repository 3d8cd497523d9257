import type { MixReport } from './runMix.ts';
import type { WatchReport } from './watch.ts';

const MAX_P99_RATIO = 5;
const MAX_P99_MS = 50;
const MAX_HEAD_MS = 500;
const MIN_ANSWERED_SHARE = 0.99;
const PROCESS_MB = 600;
const WORKER_MB = 150;
const HEADS = 'newHeads';

/** Returns the faults of the server, apart from its speed. */
export function faultsOf(report: MixReport): string[] {
  const { warmUp, alone, mixed, rssMb, workers, descriptors, exit } = report;
  const faults = [...warmUp, ...alone, ...mixed]
    .filter(({ failures }) => failures > 0)
    .map(({ name, failures, texts }) => `${name}: ${failures} failures, ${texts.join('; ')}`);
  for (const { name, answered } of mixed) if (answered === 0) faults.push(`${name}: no answer`);
  const maxMb = PROCESS_MB + (workers > 1 ? workers * WORKER_MB : 0);
  if (rssMb > maxMb) faults.push(`memory: ${rssMb.toFixed(0)} MB, at most ${maxMb}`);
  if (descriptors.after > descriptors.before)
    faults.push(`descriptors: ${descriptors.after}, ${descriptors.before} before`);
  if (exit !== 0) faults.push(`the program ended: ${exit}`);
  return faults;
}

/** Returns the bounds of time that the server exceeded. */
export function delaysOf({ alone, mixed }: MixReport): string[] {
  return mixed.flatMap((watch) => {
    const { name, p99Ms, maxMs } = watch;
    const allowedMs = Math.max(MAX_P99_RATIO * p99Of(alone, name), MAX_P99_MS);
    if (name === HEADS)
      return maxMs > MAX_HEAD_MS ? [`${name}: up to ${maxMs.toFixed(0)} ms, below ${MAX_HEAD_MS}`] : [];
    const share = answeredShare(watch);
    return [
      ...(p99Ms > allowedMs ? [`${name}: p99 ${p99Ms.toFixed(0)} ms, below ${allowedMs.toFixed(0)}`] : []),
      ...(share < MIN_ANSWERED_SHARE ? [`${name}: ${percent(share)} answered`] : []),
    ];
  });
}

/** Returns the lines that describe a mix: its clients, then a row for each polite client. */
export function linesOf(report: MixReport): string[] {
  const { mix, alone, mixed, perSecond, threads, rssMb } = report;
  const kinds = mix.greedy.map(
    ({ kind, address }, i) => `${kind} (${address}, ${(perSecond[i] ?? 0).toFixed(0)}/s)`,
  );
  const rows = mixed.map((watch) => {
    const { name, p99Ms, p50Ms, maxMs } = watch;
    const aloneMs = p99Of(alone, name);
    const cells = [
      name,
      aloneMs.toFixed(1),
      p50Ms.toFixed(1),
      p99Ms.toFixed(1),
      maxMs.toFixed(1),
      (p99Ms / aloneMs).toFixed(1),
      percent(answeredShare(watch)),
      String(watch.failures),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const broken = [
    ...faultsOf(report).map((fault) => `FAULT ${fault}`),
    ...delaysOf(report).map((delay) => `SLOW ${delay}`),
  ];
  return [
    `## seed ${mix.seed}${mix.isTls ? ', TLS' : ''}: ${kinds.join(', ')}`,
    '',
    '| client | p99 alone, ms | p50 | p99 | max | p99, ratio | answered | failures |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `memory: ${rssMb.toFixed(0)} MB`,
    `main threads: ran ${threads.ran.toFixed(1)} s, waited ${threads.waited.toFixed(1)} s for a processor`,
    ...(broken.length === 0 ? ['All bounds hold.'] : broken),
  ];
}

const p99Of = (watches: readonly WatchReport[], name: string): number =>
  watches.find((watch) => watch.name === name)?.p99Ms ?? 0;

const answeredShare = ({ answered, lost }: WatchReport): number =>
  answered === 0 ? 0 : Math.max(0, 1 - lost / answered);

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
