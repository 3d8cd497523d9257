import { expect, it } from 'vitest';
import { visible } from './visible.ts';

it('leaves what can be read as it is', () => {
  for (const text of ['www.example.com', '<img src=x onerror=alert(1)>', 'Zürich 東京 مثال', ''])
    expect(visible(text)).toBe(text);
});

it('shows by its number what prints nothing or turns the text around', () => {
  expect(visible('a\u0000b\u001b[2J\u202etxt\u2066\u200b\ufeff')).toBe(
    'a⟨U+0000⟩b⟨U+001B⟩[2J⟨U+202E⟩txt⟨U+2066⟩⟨U+200B⟩⟨U+FEFF⟩',
  );
  expect(visible('line\nline\u2028\ud800')).toBe('line⟨U+000A⟩line⟨U+2028⟩\ufffd');
});
