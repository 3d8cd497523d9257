import { connect, DEMO_BLOCKS, mineDemoBlock, startAnvil } from './anvil.ts';
import type { SharedChain } from './sharedChain.ts';

/** Starts a node with the first blocks of the chain of `floodgate dev`. Stop `anvil` when done. */
export async function startDemoChain(): Promise<SharedChain> {
  const anvil = await startAnvil();
  const node = connect(anvil.url);
  for (let done = 0; done < DEMO_BLOCKS; done++) await mineDemoBlock(node);
  return { anvil, head: DEMO_BLOCKS };
}
