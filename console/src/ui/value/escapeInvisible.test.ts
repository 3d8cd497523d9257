import { expect, it } from 'vitest';
import { escapeInvisible } from './escapeInvisible.ts';

it('visible text is unchanged', () => {
  for (const text of ['www.example.com', '<img src=x onerror=alert(1)>', 'Zürich 東京 مثال', ''])
    expect(escapeInvisible(text)).toBe(text);
});

it('invisible characters and direction marks are replaced by their code points', () => {
  expect(escapeInvisible('a\u0000b\u001b[2J\u202etxt\u2066\u200b\ufeff')).toBe(
    'a⟨U+0000⟩b⟨U+001B⟩[2J⟨U+202E⟩txt⟨U+2066⟩⟨U+200B⟩⟨U+FEFF⟩',
  );
  expect(escapeInvisible('line\nline\u2028\ud800')).toBe('line⟨U+000A⟩line⟨U+2028⟩\ufffd');
});
