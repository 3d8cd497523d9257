import { awaitedLater } from '../../../platform/background/index.ts';
import {
  type ChainRules,
  chainRulesOf,
  parseForkConfig,
  TraceFormatError,
} from '../../traces/convert/index.ts';
import type { CallOptions, NodeClient } from '../client/nodeClient.ts';
import { NodeBusyError, NodeError } from '../client/nodeError.ts';
import { resultOf } from '../client/rpcResponse.ts';
import { askChain } from '../pool/nodeChain.ts';

/** Minimum time between two requests for the forks of a node: its software may be replaced while Floodgate runs. */
const LOOK_AT_FORKS_MS = 60_000;
const CONFIG_CALL: CallOptions = { isPoll: true, timeoutMs: 5_000, maxBytes: 64 * 1024 };

/** Returns whether a request may succeed later. */
const mayPass = (error: NodeError): boolean =>
  error instanceof NodeBusyError || error.reason === 'unreachable' || error.reason === 'timeout';

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
    this.#withForks = awaitedLater(this.#askForks());
    return this.#withForks;
  }

  async #askForks(): Promise<ChainRules> {
    try {
      return { ...(await this.ofChain()), reported: await this.#reported() };
    } catch (error) {
      this.#askedMs = 0; // The next block asks again.
      throw error;
    }
  }

  async #reported(): Promise<NonNullable<ChainRules['reported']>> {
    try {
      const [response] = await this.#node.batch([['eth_config']], CONFIG_CALL);
      return parseForkConfig(resultOf('eth_config', response));
    } catch (error) {
      // The method is from 2025. Proxies reject unknown methods in many ways, and a chain may have its own form of it.
      if (error instanceof TraceFormatError || (error instanceof NodeError && !mayPass(error))) return [];
      throw error;
    }
  }
}
