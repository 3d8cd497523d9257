import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecoveryWait } from './recoveryWait.ts';

const MAX_WAITING = 1_024;
const MAX_BYTES = 32 * 1024 * 1024;

describe('requests that wait for a node to recover', () => {
  let polls = 0;
  let wait: RecoveryWait;
  beforeEach(() => {
    vi.useFakeTimers();
    polls = 0;
    wait = new RecoveryWait(1_000, () => polls++);
  });
  afterEach(() => {
    wait.nodeRecovered();
    vi.useRealTimers();
  });

  it('continue when a node recovers, and nodes are polled only until then', async () => {
    const waiting = [wait.waitForRecovery(5_000, 1), wait.waitForRecovery(5_000, 1)];
    vi.advanceTimersByTime(200);
    expect(polls).toBe(2);
    wait.nodeRecovered();
    expect(await Promise.all(waiting)).toEqual([true, true]);
    vi.advanceTimersByTime(1_000);
    expect(polls).toBe(2);
  });

  it('end without a node after the shorter of both times, while others keep waiting', async () => {
    const short = wait.waitForRecovery(300, 1);
    const long = wait.waitForRecovery(5_000, 1);
    vi.advanceTimersByTime(300);
    expect(await short).toBe(false);
    const before = polls;
    vi.advanceTimersByTime(600);
    expect(polls).toBe(before + 3);
    vi.advanceTimersByTime(100);
    expect(await long).toBe(false);
    expect(await wait.waitForRecovery(0, 1)).toBe(false);
  });

  it('are limited in number', async () => {
    const waiting = Array.from({ length: MAX_WAITING }, () => wait.waitForRecovery(5_000, 0));
    expect(await wait.waitForRecovery(5_000, 0)).toBe(false);
    wait.nodeRecovered();
    expect(await Promise.all(waiting)).not.toContain(false);
  });

  it('are limited in the bytes of their bodies, which are free after the wait', async () => {
    for (let i = 0; i < 2; i++) {
      const largest = wait.waitForRecovery(5_000, MAX_BYTES);
      expect(await wait.waitForRecovery(5_000, 1)).toBe(false);
      wait.nodeRecovered();
      expect(await largest).toBe(true);
    }
  });
});
