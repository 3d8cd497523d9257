/** Holds the heap small. Imported for its effect, before anything else: V8 must know before the heap has grown. */
import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { saveCompiledCode } from './compileCache.ts';
import { loaded, whenLoaded } from './loaded.ts';
import { growNewSpaceBy, NEW_SPACE_BYTES, newSpaceBytes } from './v8Flags.ts';

// Hardly any new objects survive here: waking threads for a collection takes longer than doing it alone, and made the p99 of
// small answers a fifth longer.
setFlagsFromString('--no-parallel-scavenge');

const CHECK_INTERVAL_MS = 1_000;
/** V8 takes the space back from a server that is idle, so only one that was busy for this share of the last second gets it. */
const BUSY_UTILIZATION = 0.2;
/**
 * Where its collections take more than this share of the time, averaged over about so many seconds in which the server is busy, because much is in
 * use at one time (answers to hundreds of clients, blocks that are ingested), it grows once more, to so much. Measured with 256 clients, of which
 * collections took a quarter of the time: 1.29 times the answers, and with 16 MiB no more; with 128 of two workers, 7 % of the time: 1.15 times
 * the calls of a node. Collections of old objects would take as long with a larger one.
 */
const COSTLY_COLLECTIONS = 0.05;
const AVERAGED_SECONDS = 5;
const LARGE_NEW_SPACE_BYTES = 2 * NEW_SPACE_BYTES;

/** What is held while the space is to grow, in pieces that are no large objects, and how much of it at most: four times what fits into it. */
const SURVIVOR_BYTES = 64 * 1024;
const WORD_BYTES = 8;
const MAX_SURVIVORS_SHARE = 4;

/**
 * What is parsed while blocks are ingested is garbage a moment later. Left alone, the heap grows to several times what is in use before
 * that is collected, so it may grow by a fifth only: 200 MB less, measured, and no slower. Not while the program is loaded, of which
 * everything stays: to look for garbage in that again and again takes a tenth of the processor time of a start.
 */
const HELD_SMALL = '--heap-growing-percent=20';
/** A program that does not tell is loaded after this time. */
const MAX_LOAD_MS = 5_000;

/**
 * Code that made objects which survived, as all do that are made while blocks are ingested or hundreds of clients ask a space that is still
 * small, V8 has make them among the old ones from then on, for good. There they keep what they refer to from being collected, so that it
 * survives, too: a server was found in which whole requests did, and a typical trace_filter took 1.5 times the processor time.
 */
const NONE_BORN_OLD = '--no-allocation-site-pretenuring';

growNewSpaceBy(1);

whenLoaded(() => {
  // A thread that is started sets it to 2, for all of the process.
  growNewSpaceBy(1);
  // Now: V8 takes no code again that was written under other flags.
  saveCompiledCode();
  setFlagsFromString(HELD_SMALL);
  setFlagsFromString(NONE_BORN_OLD);
});

setTimeout(loaded, MAX_LOAD_MS).unref();

let lastUtilization = performance.eventLoopUtilization();
let collectionsMs: (() => number) | undefined;
let collectionsShare = 0;
setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, lastUtilization);
  lastUtilization = now;
  const tookMs = collectionsMs?.() ?? 0;
  if (utilization < BUSY_UTILIZATION) return;
  // Not before: a program that ends soon does without.
  collectionsMs ??= countCollections();
  collectionsShare += (tookMs / CHECK_INTERVAL_MS - collectionsShare) / AVERAGED_SECONDS;
  growNewSpace(collectionsShare > COSTLY_COLLECTIONS ? LARGE_NEW_SPACE_BYTES : NEW_SPACE_BYTES);
}, CHECK_INTERVAL_MS).unref();

type CollectionEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

/** How long collections of new objects took since it was asked last. */
function countCollections(): () => number {
  let totalMs = 0;
  new PerformanceObserver((collections) => {
    // Node's types do not say that these entries have a detail.
    for (const { duration, detail } of collections.getEntries() as CollectionEntry[])
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) totalMs += duration;
  }).observe({ entryTypes: ['gc'] });
  return () => {
    const tookMs = totalMs;
    totalMs = 0;
    return tookMs;
  };
}

/** Once as much has survived collections as the space holds V8 grows it by the factor, so something has to survive. */
function growNewSpace(toBytes: number): void {
  const factor = Math.floor(toBytes / newSpaceBytes());
  if (factor < 2) return;
  const startBytes = newSpaceBytes();
  growNewSpaceBy(factor);
  const survivors: unknown[][] = [];
  const limit = (MAX_SURVIVORS_SHARE * startBytes) / SURVIVOR_BYTES;
  while (survivors.length < limit && newSpaceBytes() < 1.5 * startBytes)
    survivors.push(new Array(SURVIVOR_BYTES / WORD_BYTES).fill(0));
  growNewSpaceBy(1);
}
