import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { DIRECTOR, NOBODY } from './demoContracts.ts';
import { DEMO_BLOCKS, mineDemoBlock } from './demoTraffic.ts';
import { connect } from './node.ts';
import { startAnvil } from './startAnvil.ts';

/** Block interval of a new chain. It is short, because the user probably watches the chain. */
const BLOCK_INTERVAL_MS = 2_000;
/** Number of blocks that are mined at the short interval. Later blocks are mined at Ethereum's interval. */
const YOUNG_BLOCKS = 300;
const LATER_INTERVAL_MS = 12_000;
/** Maximum number of blocks. anvil keeps each block in memory (25 kB), and takes seconds to save a long chain. */
const MAX_BLOCKS = 5_000;

export interface DevelopmentChain {
  readonly url: string;
  /** Example filter for traces. Its result is short: a few plain transfers. */
  readonly example: {
    readonly fromBlock: number;
    readonly toBlock: number;
    readonly fromAddress: readonly string[];
    readonly toAddress: readonly string[];
  };
  /** Rejects if the node exits before `stop` is called. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** Starts a chain that is stored in the data folder. Every few seconds, a block of demo transactions is mined. */
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
  const node = connect(anvil.url);
  let number = await mineDemoBlock(node);
  while (number < DEMO_BLOCKS) number = await mineDemoBlock(node);
  // Save before the index reads the chain. Without this, a kill could lose the chain, and a new one would begin that
  // does not match the index.
  if (anvil.fresh) await anvil.save();

  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let lastStep: Promise<unknown> = Promise.resolve();
  const trickle = (height: number): void => {
    if (stopping || height >= MAX_BLOCKS) return;
    const delayMs = height < YOUNG_BLOCKS ? BLOCK_INTERVAL_MS : LATER_INTERVAL_MS;
    timer = setTimeout(() => {
      lastStep = mineDemoBlock(node)
        .then(trickle)
        .catch((error: unknown) => {
          if (!stopping) logger.warn({ err: error }, 'demo traffic of the development chain stopped');
        });
    }, delayMs);
  };
  trickle(number);

  const failed = anvil.exited.then(({ code, signal }): never | Promise<never> => {
    if (stopping) return new Promise<never>(() => undefined);
    throw new Error(
      `the development chain's node (anvil) exited unexpectedly: ${signal ?? `exit code ${code}`}`,
    );
  });
  failed.catch(() => undefined);

  return {
    url: anvil.url,
    example: {
      fromBlock: 1,
      toBlock: DEMO_BLOCKS,
      fromAddress: [DIRECTOR],
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
