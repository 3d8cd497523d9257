import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { DIRECTOR, NOBODY } from './cast.ts';
import { startAnvil } from './startAnvil.ts';
import { createTraffic, SCRIPT_BLOCKS } from './traffic.ts';

/** The trickle of a young chain: somebody watches. */
const BLOCK_INTERVAL_MS = 2_000;
/** From this block on it comes at the pace of the main chain. */
const YOUNG_BLOCKS = 300;
const LATER_INTERVAL_MS = 12_000;
/** The chain stops growing here: anvil keeps every block in memory (25 kB each), and its state takes seconds to save. */
const MAX_BLOCKS = 5_000;
const SEED = 1;

export interface DevelopmentChain {
  readonly url: string;
  /** A query whose answer is short: plain transfers of the script. */
  readonly example: {
    readonly fromBlock: number;
    readonly toBlock: number;
    readonly fromAddress: readonly string[];
    readonly toAddress: readonly string[];
  };
  /** Rejects if the node ends by itself. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** A chain kept in the data folder, with a trickle of traffic whose traces have every shape. */
export async function startDevelopmentChain(options: {
  dataDir: string;
  logger: Logger;
}): Promise<DevelopmentChain> {
  const { dataDir, logger } = options;
  mkdirSync(dataDir, { recursive: true });
  const anvil = await startAnvil({
    statePath: join(dataDir, 'chain.json'),
    log: (line) => logger.info(line),
  });
  const traffic = await createTraffic({ url: anvil.url, seed: SEED });
  const { number } = await traffic.step();
  if (number < SCRIPT_BLOCKS) await traffic.run({ steps: SCRIPT_BLOCKS - number });
  // Before anybody indexes it: a chain that is lost to a kill leaves an index that fits no other.
  if (anvil.fresh) await anvil.save();

  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let lastStep: Promise<unknown> = Promise.resolve();
  const trickle = (height: number): void => {
    if (stopping || height >= MAX_BLOCKS) return;
    const delayMs = height < YOUNG_BLOCKS ? BLOCK_INTERVAL_MS : LATER_INTERVAL_MS;
    timer = setTimeout(() => {
      lastStep = traffic
        .step()
        .then((block) => trickle(block.number))
        .catch((error: unknown) => {
          if (!stopping) logger.warn({ err: error }, 'the development chain makes no more traffic');
        });
    }, delayMs);
  };
  trickle(number);

  const failed = anvil.exited.then(({ code, signal }): never | Promise<never> => {
    if (stopping) return new Promise<never>(() => undefined);
    throw new Error(`the development chain's node (anvil) ended by itself: ${signal ?? `exit code ${code}`}`);
  });
  failed.catch(() => undefined);

  return {
    url: anvil.url,
    example: {
      fromBlock: 1,
      toBlock: SCRIPT_BLOCKS,
      fromAddress: [DIRECTOR.address],
      toAddress: [NOBODY],
    },
    failed,
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await lastStep;
      await anvil.stop();
    },
  };
}
