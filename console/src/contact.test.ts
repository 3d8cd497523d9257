import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchContact } from './contact.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 25, 3, 12, 4) });
});
afterEach(() => {
  vi.useRealTimers();
});

it('contact is lost after the limit since the last sign of life, and returns with the next news', () => {
  const contact = watchContact(3_000);
  vi.advanceTimersByTime(2_000);
  contact.note(true);
  vi.advanceTimersByTime(2_000);
  contact.note(false);
  const last = new Date();
  vi.advanceTimersByTime(2_999);
  expect(contact.lostSince.value).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(contact.lostSince.value).toEqual(last);
  contact.note(false);
  expect(contact.lostSince.value).toEqual(last);
  contact.note(true);
  expect(contact.lostSince.value).toBeUndefined();
  vi.advanceTimersByTime(3_000);
  expect(contact.lostSince.value).toEqual(new Date(last.getTime() + 3_000));
});

it('contact is lost if the server never sent anything, and is not reported after stop()', () => {
  const contact = watchContact(3_000);
  const begun = new Date();
  vi.advanceTimersByTime(3_000);
  expect(contact.lostSince.value).toEqual(begun);
  contact.stop();
  vi.advanceTimersByTime(9_000);
  expect(contact.lostSince.value).toBeUndefined();
});
