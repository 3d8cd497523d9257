import type { Schemas } from '../../api/types.ts';
import { formatQuantity } from '../traces/frames/ether.ts';

interface Words {
  readonly sign: string;
  readonly tone: 'well' | 'look' | 'harm' | 'quiet';
  readonly word: string;
  readonly means: string;
}

export const HEALTH: Readonly<Record<Schemas['NodeHealth']['health'], Words>> = {
  healthy: { sign: '●', tone: 'well', word: 'healthy', means: 'Receives calls.' },
  unknown: { sign: '○', tone: 'quiet', word: 'unknown', means: 'Has not responded yet.' },
  failing: { sign: '✕', tone: 'harm', word: 'failing', means: 'Receives no calls until it responds again.' },
  busy: {
    sign: '▲',
    tone: 'look',
    word: 'busy',
    means: 'Reports that it is overloaded; receives calls again in a moment.',
  },
  drained: { sign: '○', tone: 'look', word: 'drained', means: 'Taken out of service by an operator.' },
  quarantined: {
    sign: '✕',
    tone: 'harm',
    word: 'quarantined',
    means:
      'Returned provably false responses. Out of service for ten minutes, or until an operator resumes it.',
  },
  wrongChain: {
    sign: '✕',
    tone: 'harm',
    word: 'wrong chain',
    means: 'Serves another chain than the other nodes.',
  },
};

/** Maximum lag of the index, in blocks, that is not reported. Nodes usually differ by one or two blocks. */
const NORMAL_LAG = 3;

interface State {
  readonly isWell: boolean;
  readonly text: string;
}

export function nodesHeadline({ networks }: Pick<Schemas['Health'], 'networks'>): State {
  if (networks.length === 0) return { isWell: true, text: 'No nodes, rules only.' };
  const problems = networks.flatMap((network) => problemsOf(network, networks.length > 1));
  if (problems.length > 0) return { isWell: false, text: problems.map(capitalised).join(' ') };
  const count = networks.reduce((all, { nodes }) => all + nodes.length, 0);
  return {
    isWell: true,
    text: `${count === 1 ? 'The node is healthy' : `${count} of ${count} nodes are healthy`}, and the index is at the head.`,
  };
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function problemsOf({ network, nodes, index }: Schemas['NetworkHealth'], isNamed: boolean): string[] {
  const of = isNamed ? `${network}: ` : '';
  const out = nodes.filter(({ health }) => health !== 'healthy');
  const problems: string[] = [];
  if (out.length === nodes.length)
    problems.push(`${of}no healthy node: only cached and indexed data is available.`);
  else if (out.length > 0)
    problems.push(
      `${of}${out.length} of ${nodes.length} nodes ${out.length === 1 ? 'is' : 'are'} out of rotation.`,
    );
  if (index.failure !== null) problems.push(`${of}indexing failed.`);
  else if ((index.lag_blocks ?? 0) > NORMAL_LAG)
    problems.push(`${of}the index is ${formatQuantity(index.lag_blocks ?? 0)} blocks behind.`);
  return problems;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];
const STEP = 1_000;

/** Formats a number of bytes: `4.1 GB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
