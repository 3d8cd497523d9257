/** The server under test, as the clients see it. Sent to their processes as JSON. */
export interface Target {
  /** `http://127.0.0.1:PORT`, or https. */
  readonly url: string;
  readonly dns: { readonly host: string; readonly port: number };
  readonly chain: ChainFacts;
  /** A token for all accounts. */
  readonly operatorToken: string;
  /** A token for the account `tenant`, with all permissions that such a token can have. */
  readonly tenantToken: string;
  /** A token for the account `polite`, and its only rule. */
  readonly politeToken: string;
  readonly politeRuleId: string;
}

/** Blocks of the chain when the program starts. */
export interface ChainFacts {
  readonly nodeUrl: string;
  /** First block that is indexed without a request. */
  readonly firstIndexed: number;
  readonly head: number;
  /** A block with many traces. */
  readonly largeBlock: number;
  readonly recipients: readonly string[];
  readonly senders: readonly string[];
}

export const GATEWAY_PATH = '/v1/mainnet';
export const RULES_BASE = '/client/v4';
export const LOOPBACK = '127.0.0.1';

/** Number of names `h0`, `h1`, … in the zone. The address of `hN` ends with N. */
export const KNOWN_NAMES = 200;
export const ZONE_NAME = 'example.test';
export const ZONE_TEXT = `$TTL 300
@ IN SOA ns1 hostmaster ( 1 3600 600 86400 300 )
@ NS ns1
ns1 A 192.0.2.1
${Array.from({ length: KNOWN_NAMES }, (_, i) => `h${i} A 192.0.2.${i}`).join('\n')}
`;

export const rpcCall = (method: string, params: readonly unknown[], id = 1): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

export const hexBlock = (block: number): string => `0x${block.toString(16)}`;
