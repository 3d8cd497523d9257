/** What of the server is not as it should be: nodes, ingest, the store. */
import type { Health, UpstreamNode } from '../../ethereum/nodes/index.ts';
import type { Condition } from '../../platform/alerts/index.ts';

export const UNWELL_KEYS = 'unwell/';

/** What is looked at; `Ethereum` and `StoreWatch` have it. */
export interface Looked {
  readonly networks: ReadonlyMap<string, LookedNetwork>;
  readonly storeProblem: string | undefined;
}

export interface LookedNetwork {
  readonly nodes: readonly Pick<UpstreamNode, 'name' | 'health' | 'lastFailure' | 'client'>[];
  readonly notReady: string | undefined;
}

/** What each health means that is told. An operator who sets a node aside knows. */
const WORDS: Readonly<Record<Exclude<Health, 'healthy' | 'drained'>, string>> = {
  unknown: 'has not answered since the start',
  failing: 'does not answer as it should',
  busy: 'wants fewer requests than it gets',
  quarantined: 'answered what cannot be true and is not asked any more',
  wrongChain: 'is on another chain and is not asked any more',
};

export function unwell({ networks, storeProblem }: Looked): Condition[] {
  const store =
    storeProblem === undefined
      ? []
      : [condition('store_unavailable', 'store', `The store takes no writes: ${storeProblem}.`)];
  return [...store, ...[...networks].flatMap(([name, network]) => ofNetwork(name, network))];
}

function ofNetwork(name: string, { nodes, notReady }: LookedNetwork): Condition[] {
  const ingest =
    notReady === undefined
      ? []
      : [condition('ingest_behind', name, `The index of ${name} is behind: ${notReady}.`, { network: name })];
  return [...ingest, ...nodes.flatMap((node) => ofNode(name, node))];
}

function ofNode(
  network: string,
  { name, health, lastFailure, client }: LookedNetwork['nodes'][number],
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
  return { key: `${UNWELL_KEYS}${kind}/${subject}`, kind, subject, text, ...(details && { details }) };
}

/** What is told when it is well again, by what it was told as. */
export function wellAgain(key: string): string {
  const [, kind, ...subject] = key.split('/');
  if (kind === 'store_unavailable') return 'The store takes writes again.';
  if (kind === 'ingest_behind') return `The index of ${subject.join('/')} is up to date again.`;
  return `The node ${subject.join('/')} is well again, or is not asked any more.`;
}
