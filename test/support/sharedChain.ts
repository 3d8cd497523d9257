import { type Anvil, createTraffic, SCRIPT_BLOCKS, startAnvil } from './anvil.ts';

export interface SharedChain {
  readonly anvil: Anvil;
  /** Number of the last block. */
  readonly head: number;
}

/** Starts a node with a short chain that has every shape of trace. Stop `anvil` when done. */
export async function startSharedChain(seed = 7): Promise<SharedChain> {
  const anvil = await startAnvil();
  const traffic = await createTraffic({ url: anvil.url, seed });
  await traffic.run({ steps: SCRIPT_BLOCKS });
  return { anvil, head: SCRIPT_BLOCKS };
}
