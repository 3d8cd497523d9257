/** Alert conditions for faults of the server: nodes, ingest, unavailable blocks and the store. */
import type { Health, UpstreamNode } from '../../ethereum/nodes/index.ts';
import type { UnavailableBlock } from '../../ethereum/traces/index.ts';
import type { Condition } from '../../platform/alerts/index.ts';
import { unavailableText } from '../jobs/unavailableText.ts';

export const FAULT_KEYS = 'unwell/';
/** Maximum number of unavailable blocks in the details of an alert. */
const MAX_BLOCKS = 20;

/** The state that is checked for faults. It comes from `Ethereum` and `StoreWatch`. */
export interface MonitoredState {
  readonly networks: ReadonlyMap<string, MonitoredNetwork>;
  readonly storeProblem: string | undefined;
}

export interface MonitoredNetwork {
  readonly nodes: readonly Pick<UpstreamNode, 'name' | 'health' | 'lastFailure' | 'client'>[];
  readonly notReady: string | undefined;
  readonly unavailable: readonly UnavailableBlock[];
}

/** Alert text for each health state. Drained nodes are not reported, because an operator drained them. */
const WORDS: Readonly<Record<Exclude<Health, 'healthy' | 'drained'>, string>> = {
  unknown: 'has not responded since startup',
  failing: 'fails to answer correctly',
  busy: 'rejects requests because of its rate limit',
  quarantined: 'returned false data and is no longer used',
  wrongChain: 'is on another chain and is no longer used',
};

export function faultConditions({ networks, storeProblem }: MonitoredState): Condition[] {
  const store =
    storeProblem === undefined
      ? []
      : [condition('store_unavailable', 'store', `The store cannot be written: ${storeProblem}.`)];
  return [...store, ...[...networks].flatMap(([name, network]) => ofNetwork(name, network))];
}

function ofNetwork(name: string, { nodes, notReady, unavailable }: MonitoredNetwork): Condition[] {
  const ingest =
    notReady === undefined
      ? []
      : [condition('ingest_behind', name, `The index of ${name} lags: ${notReady}.`, { network: name })];
  return [...ingest, ...ofBlocks(name, unavailable), ...nodes.flatMap((node) => ofNode(name, node))];
}

function ofBlocks(network: string, unavailable: readonly UnavailableBlock[]): Condition[] {
  const text = unavailableText(unavailable);
  if (text === undefined) return [];
  const blocks = unavailable
    .slice(0, MAX_BLOCKS)
    .map(({ number, hash, unavailable: reason }) => ({ number, hash, reason }));
  return [
    condition('blocks_unavailable', network, `${network}: ${text}. All other blocks are served.`, {
      network,
      count: unavailable.length,
      blocks,
    }),
  ];
}

function ofNode(
  network: string,
  { name, health, lastFailure, client }: MonitoredNetwork['nodes'][number],
): Condition[] {
  if (health === 'healthy' || health === 'drained') return [];
  const why = lastFailure === undefined ? '' : `: ${lastFailure.reason}`;
  return [
    condition(
      'node_unhealthy',
      `${network}/${name}`,
      `The node ${name} (${client.host}) of ${network} ${WORDS[health]}${why}.`,
      { network, node: name, host: client.host, health },
    ),
  ];
}

function condition(
  kind: string,
  subject: string,
  ...[text, details]: [string, Condition['details']?]
): Condition {
  return { key: `${FAULT_KEYS}${kind}/${subject}`, kind, subject, text, ...(details && { details }) };
}

export function faultResolvedText(key: string): string {
  const [, kind, ...subject] = key.split('/');
  if (kind === 'store_unavailable') return 'The store can be written again.';
  if (kind === 'ingest_behind') return `The index of ${subject.join('/')} is up to date again.`;
  if (kind === 'blocks_unavailable') return `All blocks of ${subject.join('/')} are available again.`;
  return `The node ${subject.join('/')} is healthy again, or is no longer used.`;
}
