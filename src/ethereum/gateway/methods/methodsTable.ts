import type { MethodRow } from './row.ts';

/** A table of methods as docs/gateway.md shows it, in Markdown. */
export function methodsTable(methods: readonly MethodRow[]): string {
  const header = ['Method', 'Parameters', 'Answered by', 'Cached', 'Limits', 'What it answers'];
  const rows = methods.map((row) => [
    `\`${row.name}\``,
    row.params.map(({ name, optional }) => (optional ? `[${name}]` : name)).join(', '),
    answeredBy(row),
    cachedFor(row),
    row.limits ?? '',
    row.summary,
  ]);
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function answeredBy({ scope }: MethodRow): string {
  if (scope.of === 'table' || scope.of === 'filters') return 'gateway';
  return scope.of === 'index' ? 'index' : 'nodes';
}

function cachedFor({ scope }: MethodRow): string {
  switch (scope.of) {
    case 'index':
      return 'index';
    case 'table':
    case 'constant':
      return 'for good';
    case 'moment':
    case 'filters':
      return 'no';
    case 'head':
      return 'with several nodes, as long as the head';
    case 'block':
    case 'found':
    case 'logs':
      return 'for good once its block is final and two nodes say the same, before that as long as the head';
  }
}
