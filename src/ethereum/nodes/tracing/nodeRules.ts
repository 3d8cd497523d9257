import {
  type ChainRules,
  chainRulesOf,
  parseForkConfig,
  TraceFormatError,
} from '../../traces/convert/index.ts';
import type { CallOptions, NodeClient } from '../client/nodeClient.ts';
import { CallError } from '../client/nodeError.ts';
import { resultOf } from '../client/rpcResponse.ts';
import { askChain } from '../pool/nodeChain.ts';

/** Minimum time between two requests for the forks of a node: its software may be replaced while Floodgate runs. */
const LOOK_AT_FORKS_MS = 60_000;
const CONFIG_CALL: CallOptions = { isPoll: true, timeoutMs: 5_000, maxBytes: 64 * 1024 };

/** The rules of a node's chain. */
export class NodeRules {
  readonly #node: NodeClient;
  #chain: ChainRules | undefined;
  #withForks: Promise<ChainRules> | undefined;
  #askedMs = 0;

  constructor(node: NodeClient) {
    this.#node = node;
  }

  /** Returns the built-in rules of the chain. Rejects with NodeError. */
  async ofChain(): Promise<ChainRules> {
    this.#chain ??= chainRulesOf((await askChain(this.#node)).chainId);
    return this.#chain;
  }

  /** Returns the rules of the chain with those that the node reports for recent blocks. Rejects with NodeError. */
  withForks(): Promise<ChainRules> {
    const nowMs = Date.now();
    if (this.#withForks !== undefined && nowMs - this.#askedMs < LOOK_AT_FORKS_MS) return this.#withForks;
    this.#askedMs = nowMs;
    const asked = this.#askForks();
    asked.catch(() => {
      if (this.#withForks === asked) this.#withForks = undefined;
    });
    this.#withForks = asked;
    return asked;
  }

  async #askForks(): Promise<ChainRules> {
    const rules = await this.ofChain();
    try {
      const [response] = await this.#node.batch([['eth_config']], CONFIG_CALL);
      return { ...rules, reported: parseForkConfig(resultOf('eth_config', response)) };
    } catch (error) {
      // The method is from 2025. A chain's own form of it says nothing about Ethereum's rules.
      if (error instanceof CallError || error instanceof TraceFormatError) return rules;
      throw error;
    }
  }
}
