import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { rooms } from './rooms.js';

const src = fileURLToPath(new URL('../src/', import.meta.url));
const names = rooms.map(({ room }) => room);
const used = [...new Set(rooms.flatMap(({ uses }) => uses))];

describe('scripts/rooms.js', () => {
  it('names each room once, and only rooms that there are', () => {
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((room) => !existsSync(src + room))).toEqual([]);
  });

  it('lets rooms use only those that it names, each with a door', () => {
    expect(used.filter((room) => !names.includes(room))).toEqual([]);
    expect(used.filter((room) => !existsSync(`${src}${room}/index.ts`))).toEqual([]);
  });

  it('names every folder that has a door', () => {
    const doors = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('/index.ts'))
      .map(dirname);
    expect(doors.filter((room) => !names.includes(room))).toEqual([]);
  });

  it('lets no room use itself by way of others', () => {
    const below = (room, seen = new Set()) => {
      for (const next of rooms.find((other) => other.room === room)?.uses ?? [])
        if (!seen.has(next)) below(next, seen.add(next));
      return seen;
    };
    expect(names.filter((room) => below(room).has(room))).toEqual([]);
  });
});
