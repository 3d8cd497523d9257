import { RELAYED_ROWS } from './relayedRows.ts';
import type { MethodRow } from './row.ts';
import { INDEX_ROWS } from './table.ts';

/** The table of methods of docs/gateway.md, as Markdown. */
export function methodsTable(): string {
  const rows = [
    ...INDEX_ROWS.map(({ name, params, limits, summary }) => [
      `\`${name}\``,
      params,
      'index',
      'index',
      limits,
      summary,
    ]),
    ...RELAYED_ROWS.map((row) => [
      `\`${row.name}\``,
      row.params.map(({ name, optional }) => (optional ? `[${name}]` : name)).join(', '),
      'nodes',
      keptFor(row),
      row.limits ?? '',
      row.summary,
    ]),
  ];
  const header = ['Method', 'Parameters', 'Answered by', 'Kept', 'Limits', 'What it answers'];
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function keptFor({ scope }: MethodRow): string {
  switch (scope.of) {
    case 'constant':
      return 'for good';
    case 'moment':
      return 'no';
    case 'head':
      return 'with several nodes, as long as the head';
    case 'block':
    case 'found':
    case 'logs':
      return 'for good once its block is final, before that as long as the head';
  }
}
