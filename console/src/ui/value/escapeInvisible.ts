/**
 * Makes untrusted strings safe to display. Replaces invisible and direction-changing characters (controls, zero-width
 * characters, bidi marks) by their code points, and lone surrogates by U+FFFD.
 */
export function escapeInvisible(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
