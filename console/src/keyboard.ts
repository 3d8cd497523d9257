/**
 * Keyboard shortcuts: Ctrl+K searches everything, `/` focuses the search of a page, `g` and a letter open a page, `?`
 * lists all shortcuts.
 */
import { signal } from '@preact/signals';
import { goTo } from './navigate.ts';
import { visiblePages } from './pages/index.ts';

export const isKeyListOpen = signal(false);
export const isPaletteOpen = signal(false);

/** Time within which a letter must follow `g` to open a page. */
const CHORD_MS = 1_500;
let chordUntilMs = 0;

export function listenForKeys(): () => void {
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function onKey(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
    event.preventDefault();
    if (document.querySelector('dialog[open]') === null) isPaletteOpen.value = true;
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const isChord = performance.now() < chordUntilMs;
  chordUntilMs = 0;
  const page = isChord ? visiblePages.value.find(({ key }) => key === event.key) : undefined;
  if (page !== undefined) goTo(page.path);
  else if (event.key === 'g') chordUntilMs = performance.now() + CHORD_MS;
  else if (event.key === '/') document.querySelector<HTMLElement>('[data-search]')?.focus();
  else if (event.key === '?') isKeyListOpen.value = true;
  else return;
  event.preventDefault();
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
