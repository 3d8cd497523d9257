import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WebSocketHeads, type WebSocketLike } from './heads.ts';

let opened: FakeSocket[];
class FakeSocket implements WebSocketLike {
  onopen: (() => unknown) | null = null;
  onmessage: ((event: never) => unknown) | null = null;
  onclose: (() => unknown) | null = null;
  onerror: (() => unknown) | null = null;
  isClosed = false;

  constructor() {
    opened.push(this);
  }

  send(): void {}

  close(): void {
    this.isClosed = true;
    // The package ws fires both events if a connection is closed before it is open.
    this.onerror?.();
    this.onclose?.();
  }
}

beforeEach(() => {
  opened = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

it.each([
  { reported: ['onclose'] },
  // Node 22 does not fire `close` for a connection that could not be opened.
  { reported: ['onerror'] },
  { reported: ['onerror', 'onclose'] },
] as const)(
  'a head subscription opens exactly one new connection after the events $reported',
  ({ reported }) => {
    const heads = new WebSocketHeads('ws://gateway', FakeSocket);
    for (let attempt = 1; attempt < 4; attempt++) {
      for (const event of reported) opened.at(-1)?.[event]?.();
      vi.advanceTimersByTime(30_000);
      expect(opened).toHaveLength(attempt + 1);
    }
    heads.close();
    expect(opened.at(-1)?.isClosed).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(opened).toHaveLength(4);
  },
);
