import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';

type Json = Record<string, unknown>;

/** A recorded block: its number, and the traces that the recorded node gave for it. */
export type RecordedBlocks = ReadonlyMap<number, readonly Json[]>;

export interface PlaybackNode {
  readonly url: string;
  stop(): Promise<void>;
}

const hex = (number: number): string => `0x${number.toString(16)}`;
const made = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

/**
 * A recording player, no node: it plays recorded traces back as `trace_block` answers of an upstream node. Headers are
 * not recorded: each is made up around what its traces tell (hash, transactions), with parents that link where neighbours
 * are recorded. Other blocks are made up and empty. Its head is what the test says; all up to 64 below is final.
 */
export async function startPlaybackNode(blocks: RecordedBlocks, head: number): Promise<PlaybackNode> {
  const hashOf = (number: number): string =>
    String(blocks.get(number)?.[0]?.['blockHash'] ?? made(`block ${number}`));
  const transactionsOf = (number: number): string[] => [
    ...new Set(
      (blocks.get(number) ?? []).flatMap((trace) => (trace['transactionHash'] as string | null) ?? []),
    ),
  ];
  const blockOf = new Map(
    [...blocks.keys()].flatMap((number) => transactionsOf(number).map((hash) => [hash, number] as const)),
  );
  const header = (number: number): Json | null =>
    number > head
      ? null
      : {
          number: hex(number),
          hash: hashOf(number),
          parentHash: hashOf(number - 1),
          timestamp: hex(1_438_269_988 + 13 * number),
          gasLimit: '0x1c9c380',
          gasUsed: '0x0',
          miner: `0x${'00'.repeat(20)}`,
          transactions: transactionsOf(number),
          uncles: [],
        };
  const numberOf = (bound: unknown): number =>
    bound === 'latest' ? head : bound === 'safe' || bound === 'finalized' ? head - 64 : Number(bound);
  const answer = (method: string, [first]: readonly unknown[]): unknown => {
    switch (method) {
      case 'eth_chainId':
        return '0x1';
      case 'eth_blockNumber':
        return hex(head);
      case 'web3_clientVersion':
        return 'Playback/of-recorded-answers';
      case 'eth_getBlockByNumber':
        return header(numberOf(first));
      case 'trace_block':
        return structuredClone(blocks.get(numberOf(first)) ?? []);
      case 'eth_getTransactionByHash': {
        const number = blockOf.get(String(first));
        return number === undefined ? null : { hash: first, blockNumber: hex(number) };
      }
      default:
        return undefined;
    }
  };
  const respond = ({ id, method, params }: { id: number; method: string; params: unknown[] }): Json => {
    const result = answer(method, params);
    const error = { code: -32_601, message: `the method ${method} does not exist` };
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(Array.isArray(body) ? body.map(respond) : respond(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set: chunks are buffers
  return Buffer.concat(chunks).toString();
}
