import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PushedHeads, type WebSocketLike } from './heads.ts';

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
    // As the package ws does where the connection is not open yet.
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
  { told: ['onclose'] },
  // Node 22 tells no end of a connection that could not be opened.
  { told: ['onerror'] },
  { told: ['onerror', 'onclose'] },
] as const)('opens another connection, one, where $told tells that it is lost', ({ told }) => {
  const heads = new PushedHeads('ws://gateway', FakeSocket);
  for (let attempt = 1; attempt < 4; attempt++) {
    for (const event of told) opened.at(-1)?.[event]?.();
    vi.advanceTimersByTime(30_000);
    expect(opened).toHaveLength(attempt + 1);
  }
  heads.close();
  expect(opened.at(-1)?.isClosed).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect(opened).toHaveLength(4);
});
