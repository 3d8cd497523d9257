// The generated parts of docs/architecture.md, from the same list that the imports are held to: a picture, and a table.
import { rooms } from './rooms.js';

/** The parts of the house, in the order of the picture; what starts with none of these is the program itself. */
const PARTS = [
  { title: 'the program', holds: (room) => !/^(rules|dns|ethereum|platform)(\/|$)/.test(room) },
  { title: 'DNS: rules and the guard', holds: (room) => /^(rules|dns)(\/|$)/.test(room) },
  { title: 'Ethereum: the gateway and its index', holds: (room) => room.startsWith('ethereum/') },
];
const isShared = (room) => room.startsWith('platform/');
const SHARED = 'platform: every room may use it';

/** Columns of text in a box; wider ones are scrolled on a page. */
const WIDTH = 96;

const usesOf = (room) => rooms.find((other) => other.room === room)?.uses ?? [];

/** Whether a room comes to another by way of a third: an arrow that the others imply. */
const isImplied = (room, used) => usesOf(room).some((between) => between !== used && reaches(between, used));
const reaches = (room, sought) => usesOf(room).some((used) => used === sought || reaches(used, sought));

/** The rooms by half, each with those that it uses. What others imply goes without saying. */
export function roomsPicture() {
  const boxes = PARTS.map(({ title, holds }) => {
    const ours = rooms.filter(({ room }) => holds(room));
    const margin = Math.max(...ours.map(({ room }) => room.length));
    return box(
      title,
      ours.flatMap(({ room, uses }) => {
        const shown = uses.filter((used) => !isShared(used) && !isImplied(room, used));
        const [first, ...more] = lines(shown, WIDTH - margin - 3);
        if (first === undefined) return [room];
        return [`${room.padEnd(margin)} → ${first}`, ...more.map((line) => ' '.repeat(margin + 3) + line)];
      }),
    );
  });
  const shared = rooms.filter(({ room }) => isShared(room)).map(({ room }) => room.replace('platform/', ''));
  return ['```text', ...boxes.flat(), ...box(SHARED, lines(shared, WIDTH)), '```'].join('\n');
}

/** Words with commas between them, in lines of at most so many columns. */
function lines(words, width) {
  const filled = [];
  for (const [index, word] of words.entries()) {
    const text = index === words.length - 1 ? word : `${word},`;
    const last = filled.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= width) filled.push(`${filled.pop()} ${text}`);
    else filled.push(text);
  }
  return filled;
}

const box = (title, content) => [
  `┌─ ${title} ${'─'.repeat(WIDTH - title.length - 1)}┐`,
  ...content.map((line) => `│ ${line.padEnd(WIDTH)} │`),
  `└${'─'.repeat(WIDTH + 2)}┘`,
];

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
