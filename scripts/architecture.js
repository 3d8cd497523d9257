// The generated parts of docs/architecture.md, from the same list that the imports are held to: a picture, and a table.
import { rooms } from './rooms.js';

/** The parts of the house, in the order of the picture; what starts with none of these is the program itself. */
const PARTS = [
  {
    name: 'program',
    title: 'the program',
    holds: (room) => !/^(rules|dns|ethereum|platform)(\/|$)/.test(room),
  },
  {
    name: 'dns_half',
    title: 'DNS: rules and the guard',
    holds: (room) => /^(rules|dns)(\/|$)/.test(room),
  },
  {
    name: 'ethereum_half',
    title: 'Ethereum: the gateway and its index',
    holds: (room) => room.startsWith('ethereum/'),
  },
  { name: 'platform_shared', title: 'what both share', holds: (room) => room.startsWith('platform/') },
];

const idOf = (room) => room.replaceAll('/', '_');
const usesOf = (room) => rooms.find((other) => other.room === room)?.uses ?? [];

/** Whether a room comes to another by way of a third: an arrow that the others imply. */
const isImplied = (room, used) => usesOf(room).some((between) => between !== used && reaches(between, used));
const reaches = (room, sought) => usesOf(room).some((used) => used === sought || reaches(used, sought));

/** A flowchart of the rooms by half. Every room may use `platform`, and what others imply goes without saying. */
export function roomsPicture() {
  const lines = ['```mermaid', 'flowchart TB'];
  for (const { name, title, holds } of PARTS) {
    lines.push(`  subgraph ${name}["${title}"]`);
    for (const { room } of rooms) if (holds(room)) lines.push(`    ${idOf(room)}["${room}"]`);
    lines.push('  end');
  }
  for (const { room, uses } of rooms)
    for (const used of uses)
      if (!used.startsWith('platform/') && !isImplied(room, used))
        lines.push(`  ${idOf(room)} --> ${idOf(used)}`);
  lines.push('  dns_half --> platform_shared', '  ethereum_half --> platform_shared', '```');
  return lines.join('\n');
}

/** Every room: what it is for, and which others it may use. */
export function roomsTable() {
  const rows = rooms.map(({ room, purpose, pure, uses }) => [
    `\`${room}\``,
    pure && !purpose.toLowerCase().includes('pure') ? `${purpose}; pure` : purpose,
    uses.map((used) => `\`${used}\``).join(', ') || 'none',
  ]);
  const lines = [['room of `src`', 'what it is for', 'may use'], ['---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
