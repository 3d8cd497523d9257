import { DEFAULT_LIMITS } from '../callLimits.ts';
import { limitsText, type MethodRow } from './row.ts';

/** Returns the table of methods in Markdown, for docs/reference/methods.md. */
export function methodsTable(methods: readonly MethodRow[]): string {
  const header = ['Method', 'Parameters', 'Served by', 'Cached', 'Limits', 'Description'];
  const rows = methods.map((row) => [
    `\`${row.name}\``,
    row.params.map(({ name, optional }) => (optional ? `[${name}]` : name)).join(', '),
    answeredBy(row),
    cachedFor(row),
    limitsText(row, DEFAULT_LIMITS) ?? '',
    row.summary,
  ]);
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function answeredBy({ scope }: MethodRow): string {
  if (scope.of === 'table' || scope.of === 'filters') return 'gateway';
  if (scope.of === 'composed') return 'index and nodes';
  return scope.of === 'index' ? 'index' : 'nodes';
}

function cachedFor({ scope }: MethodRow): string {
  switch (scope.of) {
    case 'index':
      return 'index';
    case 'composed':
      return 'its parts';
    case 'table':
    case 'constant':
      return 'permanently';
    case 'moment':
    case 'filters':
      return 'no';
    case 'head':
      return 'with several nodes, until the head changes';
    case 'traced':
      return 'permanently once its block is final and the index has equal traces';
    case 'block':
    case 'found':
    case 'logs':
      return 'permanently once its block is final and two nodes agree, until the head changes before that';
  }
}
