import type { Health, NetworkHealth, NodeHealth } from '../../api/operator.ts';
import { countText } from '../traces/ether.ts';

interface Words {
  readonly sign: string;
  readonly tone: 'well' | 'look' | 'harm' | 'quiet';
  readonly word: string;
  /** What it means for whoever asks. */
  readonly means: string;
}

/** Each health of a node, in a word, and what it means. */
export const HEALTH: Readonly<Record<NodeHealth['health'], Words>> = {
  healthy: { sign: '●', tone: 'well', word: 'answers', means: 'It is asked.' },
  unknown: { sign: '○', tone: 'quiet', word: 'not known yet', means: 'It has not answered yet.' },
  failing: { sign: '✕', tone: 'harm', word: 'fails', means: 'It is not asked until it answers again.' },
  busy: {
    sign: '▲',
    tone: 'look',
    word: 'busy',
    means: 'It says that it has too much to do; it is asked again in a moment.',
  },
  drained: { sign: '○', tone: 'look', word: 'set aside', means: 'An operator took it out of service.' },
  quarantined: {
    sign: '✕',
    tone: 'harm',
    word: 'quarantined',
    means: 'It gave answers that cannot be true. It stays out until an operator puts it back.',
  },
  wrongChain: {
    sign: '✕',
    tone: 'harm',
    word: 'wrong chain',
    means: 'It is of another chain than the others.',
  },
};

/** Blocks that an index may be behind before that is worth a word: nodes differ by one or two. */
const USUAL_LAG = 3;

interface State {
  readonly isWell: boolean;
  readonly text: string;
}

/** The answer of the page in one sentence. */
export function stateOf({ networks }: Pick<Health, 'networks'>): State {
  if (networks.length === 0) return { isWell: true, text: 'No nodes, rules only.' };
  const problems = networks.flatMap((network) => problemsOf(network, networks.length > 1));
  if (problems.length > 0) return { isWell: false, text: problems.join(' ') };
  const count = networks.reduce((all, { nodes }) => all + nodes.length, 0);
  return {
    isWell: true,
    text: `${count === 1 ? 'The node answers' : `All ${count} nodes answer`}, and the index is at the head.`,
  };
}

function problemsOf({ network, nodes, index }: NetworkHealth, isNamed: boolean): string[] {
  const of = isNamed ? `${network}: ` : '';
  const out = nodes.filter(({ health }) => health !== 'healthy');
  const problems: string[] = [];
  if (out.length === nodes.length)
    problems.push(`${of}no node answers: what is cached or indexed is served, nothing else.`);
  else if (out.length > 0)
    problems.push(
      `${of}${out.length} of ${nodes.length} nodes ${out.length === 1 ? 'is' : 'are'} not asked; the others answer.`,
    );
  if (index.failure !== null) problems.push(`${of}the index does not follow.`);
  else if ((index.lag_blocks ?? 0) > USUAL_LAG)
    problems.push(`${of}the index is ${countText(index.lag_blocks as number)} blocks behind.`);
  return problems;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];
const STEP = 1_000;

/** `4.1 GB` */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
